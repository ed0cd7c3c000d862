// Servers whose counters an operator resets, and servers whose data somebody copies: both change
// what a node says about its memory, and neither makes it forget.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "integration/guards/restart_guard.hpp"
#include "support/temp_dir.hpp"

namespace redlock::test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

[[nodiscard]] std::uint64_t evicted_by(const RedisServer& server) {
  return std::stoull(field_of(server, "stats", "evicted_keys"));
}

/// Makes the server evict all keys that have an expiry, and these.
void evict(const RedisServer& server, int more) {
  const std::uint64_t before = evicted_by(server);
  for (int i = 0; i < more; ++i) {
    server.command({"SET", "more" + std::to_string(i), "value", "EX", "100"});
  }
  server.command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(
      eventually([&] { return evicted_by(server) >= before + static_cast<std::uint64_t>(more); }));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
}

/// Whether the client gets a lock on each of the nodes: it asks none that has no vote.
[[nodiscard]] bool is_voted_for_by_all(Client& client, const NewNodes& nodes) {
  const std::string resource = fresh_resource();
  const auto lease = client.try_acquire(resource, {.ttl = short_max_ttl});
  return lease && eventually([&] { return nodes.count_held(resource) == 3; }, seconds(1));
}

class Counters : public RestartGuard {
 protected:
  void SetUp() override {
    for (const RedisServer* node : nodes()) ASSERT_NO_FATAL_FAILURE(evict(*node, 5));
    open_deployment(options());
  }
  [[nodiscard]] std::vector<const RedisServer*> nodes() const {
    return {&nodes_[0], &nodes_[1], &nodes_[2]};
  }
  [[nodiscard]] static AcquireOptions for_long() {
    AcquireOptions lock;
    lock.ttl = short_max_ttl;
    return lock;
  }
};

TEST_F(Counters, OfAllNodesThatAreResetCostNoLeaseAndNoVote) {
  auto with_log = options();
  EventLog log;
  with_log.on_node_event = log.listener();
  Client holder = make_client(with_log);
  auto lease = acquire_patiently(holder, "held", for_long());
  ASSERT_TRUE(succeeded(lease));
  for (const RedisServer* node : nodes()) node->command({"CONFIG", "RESETSTAT"});
  for (std::size_t node = 0; node < 3; ++node) {
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::counters_reset, node));
    EXPECT_THAT(log.last_message(NodeEvent::Kind::counters_reset, node), HasSubstr("RESETSTAT"));
  }
  for (const RedisServer* node : nodes()) {
    EXPECT_TRUE(eventually([&] {
      const auto marker = core::parse_marker(node->get(marker_key).value_or(""));
      return marker && marker->replid == field_of(*node, "replication", "master_replid");
    })) << "the marker has the new number";
    EXPECT_FALSE(quarantined(*node));
    EXPECT_TRUE(is_member(*node));
  }
  EXPECT_TRUE(eventually([&] { return succeeded(lease->extend(short_max_ttl)); }));
  EXPECT_TRUE(lease->valid());
  Client next = client();
  EXPECT_TRUE(succeeded(acquire_patiently(next, "free", for_long())));
  const auto refused = next.try_acquire("held", for_long());
  EXPECT_TRUE(failed_with(refused, Errc::held));
}

TEST_F(Counters, ThatAreResetBeforeMoreKeysAreEvictedHideNothing) {
  Client holder = client();
  auto lease = acquire_patiently(holder, "held", for_long());
  ASSERT_TRUE(succeeded(lease));
  for (const std::size_t node : {0U, 1U}) {
    nodes_[node].command({"CONFIG", "RESETSTAT"});
    ASSERT_NO_FATAL_FAILURE(evict(nodes_[node], 1));
    ASSERT_LT(evicted_by(nodes_[node]), 5U) << "below the number before";
  }
  EXPECT_TRUE(eventually([&] { return !lease->valid(); }));
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]) && quarantined(nodes_[1]); }))
      << "its client marks what it has noticed";
}

TEST_F(Counters, ThatAreResetWhileThePolicyIsWrongHideNothing) {
  Client holder = client();
  auto lease = acquire_patiently(holder, "held", for_long());
  ASSERT_TRUE(succeeded(lease));
  for (const std::size_t node : {0U, 1U}) {
    nodes_[node].command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
    nodes_[node].command({"CONFIG", "RESETSTAT"});
  }
  EXPECT_TRUE(eventually([&] { return !lease->valid(); }));
}

TEST_F(Counters, OfANodeThatIsMadeToKeepItsKeysAgainLetItVoteAgain) {
  Client early = client();
  ASSERT_TRUE(succeeded(acquire_patiently(early, "first", for_long())));
  nodes_[0].command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  Client late = client();
  EXPECT_TRUE(eventually([&] {
    const auto lease = late.try_acquire(fresh_resource(), for_long());
    return lease && votes(lease->round(), Vote::excluded) == 1;
  }));
  nodes_[0].command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  EXPECT_TRUE(eventually([&] { return is_voted_for_by_all(late, nodes_); }, seconds(30)));
}

class CopiedNodes : public RestartGuard {
 protected:
  void SetUp() override {
    if (!nodes_[0].is_since(7)) GTEST_SKIP() << "it does not say what it received as a replica";
    open_deployment(options());
  }
  /// A client that has met no node before is granted a lock by all three of them.
  void expect_that_all_vote() {
    Client newcomer = client();
    EXPECT_TRUE(eventually([&] { return is_voted_for_by_all(newcomer, nodes_); }));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(quarantined(nodes_[i])) << i;
  }
};

TEST_F(CopiedNodes, VoteWhileReplicasAttachAndWhenTheyAreGone) {
  Client holder = client();
  auto lease = acquire_patiently(holder, "held", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  {
    const RedisServer one;
    const RedisServer other;
    ASSERT_NO_FATAL_FAILURE(become_replica_of(one, nodes_[0]));
    ASSERT_NO_FATAL_FAILURE(become_replica_of(other, nodes_[1]));
    expect_that_all_vote();
  }
  for (const std::size_t node : {0U, 1U}) {
    const std::string before = field_of(nodes_[node], "replication", "master_replid");
    nodes_[node].command({"CONFIG", "SET", "repl-backlog-ttl", "1"});
    EXPECT_TRUE(
        eventually([&] { return field_of(nodes_[node], "replication", "master_replid") != before; },
                   seconds(60)))
        << "the backlog is freed";
  }
  expect_that_all_vote();
  EXPECT_TRUE(eventually([&] { return succeeded(lease->extend(short_max_ttl)); }));
}

TEST_F(CopiedNodes, VoteAfterABackup) {
  const TempDir directory;
  const std::string before = field_of(nodes_[0], "replication", "master_replid");
  const std::string command = "redis-cli -p " + std::to_string(nodes_[0].port()) + " --rdb " +
                              (directory.path() / "copy.rdb").native() + " >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(concurrency-mt-unsafe)
  ASSERT_NE(field_of(nodes_[0], "replication", "master_replid"), before);
  expect_that_all_vote();
}

/// The marker comes back, and the second replication id is cleared: only the bytes that the node
/// received as a replica tell.
TEST_F(CopiedNodes, ThatGotTheirRoleBackAreQuarantinedEvenIfTheBacklogIsFreed) {
  std::optional<RedisServer> replica;
  ASSERT_NO_FATAL_FAILURE(cut_off_a_replica(nodes_[0], replica));
  // Without a write that the replica lacks, the node would keep its data, and load nothing.
  nodes_[0].command({"SET", "forgotten", "1", "EX", "100"});
  ASSERT_NO_FATAL_FAILURE(give_its_role_back(nodes_[0], replica));
  nodes_[0].command({"CONFIG", "SET", "repl-backlog-ttl", "1"});
  ASSERT_TRUE(
      eventually([&] { return field_of(nodes_[0], "replication", "second_repl_offset") == "-1"; },
                 seconds(60)));
  Client newcomer = client();
  EXPECT_TRUE(eventually([&] {
    const auto lease = newcomer.try_acquire(fresh_resource(), {.ttl = short_max_ttl});
    return quarantined(nodes_[0]);
  }));
}

}  // namespace
}  // namespace redlock::test
