// Servers that answer, but with an error: the error is the node's vote, in the server's own words.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <thread>

#include "integration/library.hpp"
#include "support/fake_server.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

[[nodiscard]] NodeVote vote_of_only_node(const ClientOptions& options) {
  Client client = make_client(options);
  auto refused = client.try_acquire(fresh_resource());
  EXPECT_TRUE(failed_with(refused, Errc::unavailable));
  if (refused || refused.error().round.nodes.empty()) return {};
  EXPECT_THAT(refused.error().message, HasSubstr(refused.error().round.nodes[0].message));
  return refused.error().round.nodes[0];
}

/// Has its own servers, because its tests change their state.
class NodeStates : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    alone_ = std::make_unique<Nodes>(1);
    three_ = std::make_unique<Nodes>(3);
  }
  static void TearDownTestSuite() {
    alone_.reset();
    three_.reset();
  }

  /// Sets a parameter of the only node and of the first of three.
  static void set(const std::string& parameter, const std::string& value) {
    for (Nodes* nodes : {alone_.get(), three_.get()}) {
      ASSERT_TRUE((*nodes)[0].command({"CONFIG", "SET", parameter, value}).is_ok());
    }
  }
  static void expect_error(const std::string& words) {
    const NodeVote vote = vote_of_only_node(patient(alone_->urls()));
    EXPECT_EQ(vote.vote, Vote::error);
    EXPECT_THAT(vote.message, HasSubstr(words));

    // Two healthy nodes suffice without it.
    Client client = make_client(patient(three_->urls()));
    auto lease = client.try_acquire(fresh_resource());
    ASSERT_TRUE(succeeded(lease));
    EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
    EXPECT_TRUE(succeeded(lease->release()));
  }
  static std::unique_ptr<Nodes> alone_;
  static std::unique_ptr<Nodes> three_;
};

std::unique_ptr<Nodes> NodeStates::alone_;
std::unique_ptr<Nodes> NodeStates::three_;

TEST_F(NodeStates, AMasterThatBecomesAReplicaIsReadOnly) {
  Nodes nodes(1);
  const RedisServer& replica = nodes[0];
  Client client = make_client(patient(nodes.urls()));
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  ASSERT_TRUE(
      replica.command({"REPLICAOF", "127.0.0.1", std::to_string(shared_new_nodes()[0].port())})
          .is_ok());
  auto refused = client.try_acquire(fresh_resource());
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  EXPECT_EQ(refused.error().round.nodes[0].vote, Vote::error);
  EXPECT_THAT(refused.error().round.nodes[0].message, HasSubstr("READONLY"));
}

TEST_F(NodeStates, AReplicaIsNotConnectedToAgainForWhatItIsOwed) {
  Nodes nodes(3);
  EventLog log;
  ClientOptions options = patient(nodes.urls());
  options.on_node_event = log.listener();
  Client client = make_client(options);
  ASSERT_TRUE(all_nodes_vote(client, nodes, 3));
  const std::string resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  const RedisServer& replica = nodes[2];
  ASSERT_TRUE(
      replica.command({"REPLICAOF", "127.0.0.1", std::to_string(shared_new_nodes()[0].port())})
          .is_ok());
  const auto connections = [&replica] {
    const std::string stats = replica.command({"INFO", "stats"}).string;
    const std::string field = "total_connections_received:";
    return std::stol(stats.substr(stats.find(field) + field.size()));
  };
  ASSERT_TRUE(succeeded(lease->release()));
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::excluded, 2));
  const long before = connections();
  for (int i = 0; i < 300; ++i) {
    auto other = client.acquire(resource, {.ttl = seconds(20)});
    ASSERT_TRUE(succeeded(other));
    ASSERT_TRUE(succeeded(other->release()));
  }
  // One connection to check whether the node is still a replica, and those of this test itself.
  EXPECT_LE(connections() - before, 4);
}

TEST_F(NodeStates, AFullServerTakesNoLock) {
  ASSERT_NO_FATAL_FAILURE(set("maxmemory", "1"));
  expect_error("OOM command not allowed");
  ASSERT_NO_FATAL_FAILURE(set("maxmemory", "0"));
}

TEST_F(NodeStates, AServerThatMissesItsReplicasTakesNoLock) {
  ASSERT_NO_FATAL_FAILURE(set("min-replicas-to-write", "1"));
  expect_error("NOREPLICAS");
  ASSERT_NO_FATAL_FAILURE(set("min-replicas-to-write", "0"));
}

TEST_F(NodeStates, AServerThatCanNotSaveTakesNoLock) {
  RedisServerOptions options;
  options.arguments = {"--save", "3600", "1"};
  const Nodes nodes(1, options);
  const RedisServer& server = nodes[0];
  ASSERT_TRUE(server.command({"SET", "dirty", "1"}).is_ok());
  // A directory in the place of the dump file makes BGSAVE fail.
  std::filesystem::create_directories(server.data_directory() / "dump.rdb" / "in-the-way");
  ASSERT_FALSE(server.command({"BGSAVE"}).is_error());
  ASSERT_TRUE(eventually([&] { return server.command({"SET", "dirty", "2"}).is_error(); }));
  const NodeVote vote = vote_of_only_node(patient(nodes.urls()));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("MISCONF"));
}

TEST_F(NodeStates, FlushedScriptsAreSentAgain) {
  const RedisServer& server = (*alone_)[0];
  Client client = make_client(patient(alone_->urls()));
  for (int i = 0; i < 3; ++i) {
    const auto resource = fresh_resource();
    auto lease = client.try_acquire(resource);
    ASSERT_TRUE(succeeded(lease));
    server.command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
    EXPECT_GT(server.pttl(resource), 10'000);
    server.command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(succeeded(client.inspect(resource)));
    EXPECT_EQ(client.ownership(resource, lease->token()), Ownership::held);
    server.command({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(succeeded(lease->release()));
    EXPECT_EQ(server.get(resource), std::nullopt);
  }
}

TEST_F(NodeStates, APausedServerOnlyTakesLonger) {
  const RedisServer& server = (*alone_)[0];
  Client client = make_client(patient(alone_->urls()));
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  server.command({"CLIENT", "PAUSE", "200", "ALL"});
  auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  server.command({"CLIENT", "PAUSE", "200", "WRITE"});
  EXPECT_TRUE(succeeded(lease->release()));
}

TEST_F(NodeStates, ConnectionsKilledUnderLoadLeaveNoLockBehind) {
  Nodes nodes(3);
  {
    Client client = make_client(patient(nodes.urls()));
    std::atomic<bool> done{false};
    std::atomic<int> granted{0};
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const auto resource = "killed:" + std::to_string(t);
        while (!done) {
          auto lease = client.try_acquire_for(resource, seconds(5), {.ttl = seconds(30)});
          if (lease) ++granted;
        }
      });
    }
    for (int i = 0; i < 20; ++i) {
      for (RedisServer& node : nodes) node.command({"CLIENT", "KILL", "TYPE", "normal"});
      const int before = granted;
      EXPECT_TRUE(eventually([&] { return granted > before + 4; }, seconds(30)));
    }
    done = true;
    threads.clear();
    for (int t = 0; t < 4; ++t) {
      const auto resource = "killed:" + std::to_string(t);
      EXPECT_TRUE(eventually([&] { return nodes.count_held(resource) == 0; }));
    }
  }
}

/// Errors of states that a real server takes long to get into.
class NodeErrors : public testing::TestWithParam<const char*> {};

TEST_P(NodeErrors, AreTheVoteInTheServersWords) {
  FakeServer fake;
  fake.on("SET", [](const Command&) { return resp::error(GetParam()); });
  const NodeVote vote = vote_of_only_node(of_fakes({fake.url()}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_EQ(vote.message, GetParam());
  // These errors end the connection, so its other requests count as unanswered.
  const std::string_view error = GetParam();
  const bool no_master = error.starts_with("LOADING ") || error.starts_with("READONLY ") ||
                         error.starts_with("MASTERDOWN ") || error.starts_with("MOVED ");
  if (no_master) return;
  EXPECT_TRUE(vote.round_trip);
  EXPECT_EQ(fake.count("EVALSHA"), 0U) << "the answer says that nothing was executed";
}

INSTANTIATE_TEST_SUITE_P(
    Servers, NodeErrors,
    testing::Values(
        "LOADING Redis is loading the dataset in memory",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "NOAUTH Authentication required.",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
        "persist to disk.",
        "NOREPLICAS Not enough good replicas to write.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN "
        "NOSAVE.",
        "MOVED 3999 127.0.0.1:6381", "CLUSTERDOWN The cluster is down",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "NOPERM this user has no permissions to run the 'set' command", "ERR syntax error"));

TEST(NodeHandshakes, AServerThatIsStillLoadingRefusesTheHandshake) {
  FakeServer fake;
  fake.on("INFO", [](const Command&) { return resp::error("LOADING Redis is loading"); });
  const NodeVote vote = vote_of_only_node(of_fakes({fake.url()}));
  EXPECT_EQ(vote.vote, Vote::error);
  EXPECT_THAT(vote.message, HasSubstr("LOADING"));
  EXPECT_EQ(fake.count("SET"), 0U);
}

TEST(NodeHandshakes, AServerOlderThanSevenIsAskedWithoutGet) {
  FakeServer fake(FakeRedis{.version = "6.2.14"});
  fake.on("SET", [](const Command& command) {
    const bool with_get = std::find(command.begin(), command.end(), "GET") != command.end();
    return with_get ? resp::error("ERR syntax error") : resp::status("OK");
  });
  Client client = make_client(of_fakes({fake.url()}));
  auto lease = client.try_acquire("r");
  ASSERT_TRUE(succeeded(lease));
  static_cast<void>(lease->detach());
  fake.on("SET", [](const Command&) { return resp::nil(); });
  auto refused = client.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::held));
  EXPECT_EQ(refused.error().round.nodes.at(0).holder, std::nullopt);
}

TEST(NodeHandshakes, AServerThatKnowsNoScriptsOrNamesStillVotes) {
  FakeServer fake;
  fake.on("SCRIPT LOAD", [](const Command&) { return resp::error("NOPERM no scripts here"); });
  fake.on("CLIENT SETNAME", [](const Command&) { return resp::error("ERR no"); });
  fake.on("EVAL", [](const Command&) { return resp::integer(1); });
  Client client = make_client(of_fakes({fake.url()}));
  auto lease = client.try_acquire("r");
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
  EXPECT_TRUE(succeeded(lease->release()));
}

}  // namespace
}  // namespace redlock::test
