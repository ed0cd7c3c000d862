// Servers that are ineligible as nodes have no vote, and the reason is reported.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/deployment.hpp"
#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

/// With this node alone an acquire is excluded; with two others it works without the node's vote.
void expect_excluded(const std::string& url, const std::string& reason) {
  {
    Client client = make_client(patient({url}));
    auto refused = client.try_acquire(fresh_resource());
    ASSERT_TRUE(failed_with(refused, Errc::excluded));
    const NodeVote& node = refused.error().round.nodes.at(0);
    EXPECT_EQ(node.vote, Vote::excluded);
    EXPECT_THAT(node.message, HasSubstr(reason));
    EXPECT_THAT(refused.error().message, HasSubstr(node.message));
    EXPECT_THAT(refused.error().message, HasSubstr(url));
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("\n")));
  }
  // Without the restart guard, because no deployment can be opened with this node.
  const NewNodes& others = shared_new_nodes();
  auto options = unguarded(patient({url, others[0].url(), others[1].url()}));
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  auto lease = client.try_acquire(fresh_resource());
  ASSERT_TRUE(succeeded(lease));
  EXPECT_NE(lease->round().nodes.at(0).vote, Vote::granted);
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::excluded, 0));
  EXPECT_THAT(log.last_message(NodeEvent::Kind::excluded, 0), HasSubstr(reason));
  EXPECT_TRUE(succeeded(lease->release()));
}

/// Makes the server evict keys that have an expiry, for lack of memory, and restores its settings.
void evict_locks(const RedisServer& server) {
  server.command({"SET", "another", "value", "EX", "100"});
  server.command({"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"});
  server.command({"CONFIG", "SET", "maxmemory", "1"});
  ASSERT_TRUE(eventually([&] { return field_of(server, "stats", "evicted_keys") != "0"; }));
  server.command({"CONFIG", "SET", "maxmemory", "0"});
  server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
}

TEST(IdentityGuard, ALockThatNodesEvictIsLostAndNotGivenToTheNextWhileItIsValid) {
  Nodes nodes(3);
  Client holder = make_client(patient(nodes.urls()));
  EventLog log;
  auto options = patient(nodes.urls());
  options.on_node_event = log.listener();
  Client next = make_client(options);
  ASSERT_TRUE(succeeded(next.try_acquire(fresh_resource()))) << "connected before";
  AcquireOptions lock;
  lock.ttl = std::chrono::seconds(30);
  auto lease = holder.try_acquire(fresh_resource(), lock);
  ASSERT_TRUE(succeeded(lease));
  for (const std::size_t node : {0U, 1U}) evict_locks(nodes[node]);
  EXPECT_TRUE(eventually([&] { return !lease->valid(); })) << "noticed with the clocks";
  // The holder has noticed before it marks the nodes, and the next client may be as quick. The
  // nodes vote again when every earlier lease has ended.
  EXPECT_TRUE(eventually([&] {
    const auto refused = next.try_acquire(fresh_resource());
    return !refused && refused.error().message.find("evicted keys") != std::string::npos;
  }));
}

// The next test is without the restart guard: no deployment can be opened with one server under
// several addresses.

TEST(IdentityGuard, AServerUnderThreeAddressesHasOneVote) {
  const RedisServer server;
  Client client =
      make_client(unguarded(patient({server.url(), by_name(server), server.unix_url()})));
  const auto resource = fresh_resource();
  const auto duplicates_in = [&](const Error& error) {
    return std::count_if(error.round.nodes.begin(), error.round.nodes.end(), [](const auto& node) {
      return node.vote == Vote::excluded && node.message.find("same server") != std::string::npos;
    });
  };
  // A refusal comes as soon as no majority is possible, and names only the nodes that were met by
  // then.
  const auto both_are_known = [&] {
    const auto refused = client.try_acquire(resource);
    if (refused) throw std::runtime_error("one server made a majority");
    EXPECT_EQ(refused.error().code, Errc::excluded);
    EXPECT_LE(votes(refused.error().round, Vote::granted), 1U);
    return duplicates_in(refused.error()) == 2;
  };
  EXPECT_TRUE(eventually(both_are_known));
  const auto refused = client.try_acquire(resource);
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, AnyOf(HasSubstr("the same server as " + server.url()),
                                             HasSubstr("the same server as " + by_name(server)),
                                             HasSubstr("the same server as " + server.unix_url())));
  EXPECT_TRUE(eventually([&] { return !server.get(resource); })) << "the one vote was taken back";
}

TEST(IdentityGuard, AServerUnderTwoAddressesDoesNotMakeAMajorityOfThree) {
  const RedisServer twice;
  RedisServer other;
  Client client = make_client(unguarded(patient({twice.url(), by_name(twice), other.url()})));
  const auto resource = fresh_resource();
  {
    auto lease = client.try_acquire(resource);
    ASSERT_TRUE(succeeded(lease));
    EXPECT_TRUE(other.get(resource)) << "its vote is needed";
  }
  other.kill();
  auto refused = client.try_acquire(resource);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().code, AnyOf(Errc::excluded, Errc::unavailable));
}

TEST(IdentityGuard, TheVoteMovesToTheOtherAddressWhenTheFirstIsGone) {
  const RedisServer twice;
  const RedisServer other;
  Client client = make_client(unguarded(patient({twice.url(), twice.unix_url(), other.url()})));
  ASSERT_TRUE(succeeded(client.try_acquire(fresh_resource())));
  for (int i = 0; i < 3; ++i) {
    twice.command({"CLIENT", "KILL", "TYPE", "normal"});
    EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
  }
}

TEST(IdentityGuard, AReplicaHasNoVote) {
  RedisServer replica({.arguments = {"--replica-read-only", "no"}});
  ASSERT_TRUE(
      replica.command({"REPLICAOF", "127.0.0.1", std::to_string(shared_new_nodes()[0].port())})
          .is_ok());
  // The replica would accept SET: only this guard keeps it from voting.
  expect_excluded(replica.url(), "replica");
}

TEST(IdentityGuard, ANodeOfAClusterHasNoVote) {
  const RedisServer server({.arguments = {"--cluster-enabled", "yes"}});
  expect_excluded(server.url(), "cluster");
}

TEST(IdentityGuard, ASentinelHasNoVote) {
  const Sentinel server;
  expect_excluded(server.url(), "sentinel");
}

class EvictionPolicies : public testing::TestWithParam<const char*> {};

TEST_P(EvictionPolicies, ThatMayEvictALockCostTheVote) {
  const RedisServer server({.arguments = {"--maxmemory-policy", GetParam()}});
  expect_excluded(server.url(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Some, EvictionPolicies,
                         testing::Values("allkeys-lru", "volatile-ttl", "allkeys-random"));

}  // namespace
}  // namespace redlock::test
