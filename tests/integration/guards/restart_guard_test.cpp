// Nodes that forgot their promises, and nodes that no client has met.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "integration/guards/restart_guard.hpp"
#include "redlock/listing.hpp"

namespace redlock::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ContainsRegex;
using testing::HasSubstr;

TEST_F(RestartGuard, NodesThatNobodyHasMetHaveNoVoteAndSayHowToOpenThem) {
  auto options = RestartGuard::options();
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  const std::string& message = refused.error().message;
  EXPECT_THAT(message, HasSubstr("bootstrap"));
  EXPECT_THAT(message, ContainsRegex("[0-9] m?s"));
  ASSERT_GE(votes(refused.error().round, Vote::excluded), 2U);
  for (std::size_t i = 0; i < 3; ++i) {
    // The call marks the nodes; then the end of the quarantine is known.
    EXPECT_TRUE(eventually([&] {
      return testing::Matches(ContainsRegex("[0-9] m?s"))(
          log.last_message(NodeEvent::Kind::excluded, i));
    }));
    const NodeVote& node = refused.error().round.nodes.at(i);
    if (node.vote != Vote::excluded) continue;
    EXPECT_THAT(message, HasSubstr(node.url));
    EXPECT_NE(node.message, "");
    EXPECT_THAT(message, HasSubstr("it is new or has lost its data"));
  }
  // All nodes are known to be excluded by now, so none is asked, and every vote is reported.
  refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_EQ(votes(refused.error().round, Vote::excluded), 3U);
  EXPECT_EQ(nodes_.count_held("r"), 0U);

  const auto inspection = client.inspect("r");
  ASSERT_TRUE(succeeded(inspection));
  for (const NodeInspection& node : inspection->nodes) {
    EXPECT_GT(node.quarantine, seconds(0));
    EXPECT_LE(node.quarantine, 2 * short_max_ttl);
  }
}

TEST_F(RestartGuard, NoBootstrapIsAdvisedThatWouldShortenNothing) {
  // A third node remembers the deployment, so the two that forgot do not count as new ones.
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  open_deployment(options);
  nodes_[1].restart(Data::wipe);
  nodes_[2].restart(Data::wipe);
  Client client = make_client(options);
  // Two nodes decide. The client may not have met the third one yet, the one that remembers.
  EXPECT_TRUE(eventually([&] {
    const auto refused = client.try_acquire("r");
    EXPECT_TRUE(failed_with(refused, Errc::excluded));
    const std::string& message = refused.error().message;
    EXPECT_THAT(message, testing::Not(HasSubstr("open the deployment")));
    return message.find("; waiting does not help: 2 of 3 members") != std::string::npos;
  }));
  const auto check = admin::check(options);
  ASSERT_TRUE(succeeded(check));
  for (const admin::Finding& finding : check->findings) {
    if (finding.kind != admin::Finding::Kind::quarantined) continue;
    EXPECT_THAT(finding.remedy, testing::Not(HasSubstr("bootstrap"))) << finding.node;
  }
}

TEST_F(RestartGuard, AWaitingAcquireGetsTheLockWhenTheQuarantineEnds) {
  Client client = RestartGuard::client();
  ASSERT_TRUE(failed_with(client.try_acquire("r", {.ttl = short_max_ttl}), Errc::excluded));
  const auto lease = client.acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  // Most of the quarantine has passed on two of the three nodes; clocks may disagree by
  // milliseconds.
  const auto ended = std::count_if(nodes_.begin(), nodes_.end(), [](const RedisServer& node) {
    return node.pttl(std::string(redis::keys::quarantine)) < 1000;
  });
  EXPECT_GE(ended, 2);
}

TEST_F(RestartGuard, AnOpenedDeploymentWorksAtOnceForEverybody) {
  open_deployment(options());
  for (int i = 0; i < 3; ++i) {
    Client client = RestartGuard::client();
    EXPECT_TRUE(succeeded(client.try_acquire(fresh_resource(), {.ttl = short_max_ttl})));
  }
}

TEST_F(RestartGuard, AClientThatOpenedNewNodesItselfLearnsThatAnOperatorEndedTheQuarantine) {
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  Client client = make_client(options);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  ASSERT_TRUE(eventually([&] { return std::all_of(nodes_.begin(), nodes_.end(), is_member); },
                         seconds(30)));
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_EQ(opened->granted_in, std::chrono::nanoseconds(0));
  for (const RedisServer& node : nodes_) EXPECT_FALSE(quarantined(node));
  EXPECT_TRUE(
      eventually([&] { return client.try_acquire(fresh_resource()).has_value(); }, seconds(60)));
}

TEST_F(RestartGuard, ABootstrapThatIsRepeatedAfterARollingRestartEndsNoQuarantine) {
  ClientOptions options = RestartGuard::options();
  options.max_ttl = minutes(10);
  Client client = make_client(options);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  ASSERT_TRUE(eventually([&] { return std::all_of(nodes_.begin(), nodes_.end(), is_member); },
                         seconds(30)));
  ASSERT_TRUE(succeeded(admin::bootstrap(options)));
  for (RedisServer& node : nodes_) {
    node.restart(Data::wipe);
    ASSERT_TRUE(eventually([&] { return is_member(node); }, seconds(30)));
  }
  const auto opened = admin::bootstrap(options);
  ASSERT_TRUE(succeeded(opened));
  EXPECT_GT(opened->granted_in, std::chrono::nanoseconds(0));
  for (const RedisServer& node : nodes_) EXPECT_TRUE(quarantined(node));
}

TEST_F(RestartGuard, WithoutItNewNodesVoteAtOnce) {
  Client client = make_client(unguarded(patient(nodes_.urls())));
  EXPECT_TRUE(succeeded(client.try_acquire("r")));
}

TEST_F(RestartGuard, ARenewedLeaseOutlivesANodeThatForgotIt) {
  open_deployment(options());
  Client client = RestartGuard::client();
  AcquireOptions acquire{.ttl = short_max_ttl};
  std::atomic<int> lost{0};
  acquire.on_lost = [&](const Error&) { ++lost; };
  const auto lease = client.try_acquire("r", std::move(acquire));
  ASSERT_TRUE(succeeded(lease));
  nodes_[0].restart(Data::wipe);
  EXPECT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  EXPECT_TRUE(eventually([&] { return nodes_[0].get("r") == lease->token().str(); }, seconds(30)))
      << "the node was not given the key again";
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lost, 0);
}

TEST_F(RestartGuard, TheOthersDoWithoutANodeThatForgot) {
  // This test does not wait for the end of the quarantine; a short one could end during the test.
  ClientOptions options = RestartGuard::options();
  options.max_ttl = seconds(60);
  open_deployment(options);
  Client client = make_client(options);
  ASSERT_TRUE(succeeded(client.try_acquire("before", {.ttl = short_max_ttl})));
  nodes_[0].restart(Data::wipe);
  const auto lease = acquire_patiently(client, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_NE(lease->round().nodes.at(0).vote, Vote::granted);

  ASSERT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  Client stranger = make_client(options);
  // The node's answers do not count while the first client writes its marker.
  Result<Inspection> inspection = stranger.inspect("r");
  ASSERT_TRUE(eventually(
      [&] {
        if (inspection && inspection->nodes.at(0).error.empty()) return true;
        inspection = stranger.inspect("r");
        return false;
      },
      seconds(30)));
  EXPECT_GT(inspection->nodes.at(0).quarantine, seconds(0));
  EXPECT_EQ(inspection->nodes.at(1).quarantine, seconds(0));
}

TEST_F(RestartGuard, ANodeThatForgotVotesAgainAfterItsQuarantine) {
  open_deployment(options());
  Client client = client_that_locks(options());
  nodes_[0].restart(Data::wipe);
  ASSERT_TRUE(eventually([&] { return quarantined(nodes_[0]); }, seconds(30)));
  ASSERT_TRUE(eventually([&] { return !quarantined(nodes_[0]); }, seconds(60)));
  // From here on, the vote of the node that forgot is needed.
  nodes_[1].kill();
  const auto lease = acquire_patiently(client, "r", {.ttl = short_max_ttl});
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(lease->round().nodes.at(0).vote, Vote::granted);
}

TEST_F(RestartGuard, AClientWithAnotherMaxTtlLearnsWhatDiffers) {
  open_deployment(options());
  auto other = options();
  other.max_ttl = seconds(47);
  Client client = make_client(other);
  auto refused = client.try_acquire("r");
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, HasSubstr("max TTL"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]47(000 m| )s"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]3(000 m| )s"));
  EXPECT_EQ(nodes_.count_held("r"), 0U);
  // The refused client has not harmed clients with the same max TTL.
  Client member = RestartGuard::client();
  EXPECT_TRUE(succeeded(member.try_acquire("r", {.ttl = short_max_ttl})));
}

TEST_F(RestartGuard, AClientThatOnlyInspectsWritesNothing) {
  auto other = options();
  other.max_ttl = minutes(60);
  const auto inspect = [&](const ClientOptions& with) {
    Client client = make_client(with);
    static_cast<void>(client.inspect("r"));
    static_cast<void>(admin::check(with));
    static_cast<void>(admin::list_locks(with));
  };
  inspect(other);
  for (const RedisServer& node : nodes_) EXPECT_EQ(node.command({"DBSIZE"}).integer, 0);
  open_deployment(options());
  const auto marker = nodes_[0].get(std::string(redis::keys::marker));
  nodes_[0].restart(Data::wipe);
  inspect(other);
  inspect(options());
  EXPECT_EQ(nodes_[0].command({"DBSIZE"}).integer, 0);
  nodes_[0].command({"SET", std::string(redis::keys::marker), *marker});
  inspect(other);
  inspect(options());
  EXPECT_EQ(nodes_[0].get(std::string(redis::keys::marker)), marker) << "it is of before";
}

TEST_F(RestartGuard, AClientWithAnotherMaxTtlKeepsNoNodeAway) {
  open_deployment(options());
  auto other = options();
  other.max_ttl = minutes(60);
  Client client = make_client(other);
  ASSERT_TRUE(failed_with(client.try_acquire("r"), Errc::excluded));
  nodes_[0].restart(Data::wipe);
  Client stranger = make_client(other);
  EXPECT_FALSE(stranger.try_acquire("r", {.ttl = short_max_ttl}));
  EXPECT_EQ(nodes_[0].command({"DBSIZE"}).integer, 0);
  Client member = RestartGuard::client();
  ASSERT_TRUE(succeeded(acquire_patiently(member, "r", {.ttl = short_max_ttl})));
  ASSERT_TRUE(eventually([&] { return is_member(nodes_[0]); }, seconds(30)));
  EXPECT_LE(nodes_[0].pttl(std::string(redis::keys::quarantine)), 2 * 3000);
}

TEST_F(RestartGuard, ClientsThatDisagreeOnMaxTtlLeaveADeploymentClosedAndSaySo) {
  blank_by_hand(nodes_[0]);
  Client client = RestartGuard::client();
  const auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, HasSubstr("clients that disagree open none"));
  EXPECT_THAT(refused.error().message, ContainsRegex("max TTL of 30(000 m| )s"));
  EXPECT_FALSE(is_member(nodes_[0]));
  open_deployment(options());
  EXPECT_TRUE(succeeded(acquire_patiently(client, "r", {.ttl = short_max_ttl})));
}

TEST_F(RestartGuard, AClientWithFewerNodesLearnsWhatDiffers) {
  open_deployment(options());
  Client client = make_client(guarded({nodes_[0].url()}));
  auto refused = client.try_acquire("r", {.ttl = short_max_ttl});
  ASSERT_TRUE(failed_with(refused, Errc::excluded));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]3 nodes"));
  EXPECT_THAT(refused.error().message, ContainsRegex("[^0-9]1 node"));
  EXPECT_EQ(nodes_.count_held("r"), 0U);
}

}  // namespace
}  // namespace redlock::test
