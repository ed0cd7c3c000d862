// Nodes that are killed, stopped and restarted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "integration/library.hpp"

namespace redlock::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

class NodeOutages : public testing::Test {
 protected:
  /// Long enough that no key in these tests expires.
  static constexpr auto ages = minutes(10);

  static void SetUpTestSuite() { nodes_ = std::make_unique<Nodes>(5, RedisServerOptions{}, ages); }
  static void TearDownTestSuite() { nodes_.reset(); }
  void TearDown() override {
    for (RedisServer& node : *nodes_) {
      if (!node.running()) {
        node.start();
      } else if (node.stopped()) {
        node.resume();
      }
    }
    nodes_->clear();
  }

  [[nodiscard]] static ClientOptions with_long_ttl(ClientOptions options) {
    options.max_ttl = ages;
    return options;
  }
  [[nodiscard]] static bool soon_gone(const std::string& resource) {
    return eventually([&] { return nodes_->count_held(resource) == 0; }, seconds(30));
  }
  [[nodiscard]] static bool soon_held(const std::string& resource, std::size_t count) {
    return eventually([&] { return nodes_->count_held(resource) == count; }, seconds(30));
  }
  [[nodiscard]] static bool all_vote(Client& client) {
    return all_nodes_vote(client, *nodes_, nodes_->size());
  }

  static std::unique_ptr<Nodes> nodes_;
};

std::unique_ptr<Nodes> NodeOutages::nodes_;

/// Nodes that vote again as soon as they are back, without their data: the restart guard is off,
/// and so there are no markers. For nodes with the guard, see MinorityRestarted and RestartGuard; a
/// majority that lost its data needs an operator.
class NodesWithoutGuard : public testing::Test {
 protected:
  [[nodiscard]] ClientOptions options() const { return unguarded(patient(nodes_.urls())); }

  NewNodes nodes_{5};
};

class NodesKilled : public NodeOutages, public testing::WithParamInterface<std::size_t> {};

TEST_P(NodesKilled, BeforeAnAcquireAreDoneWithout) {
  for (std::size_t i = 0; i < GetParam(); ++i) (*nodes_)[i].kill();
  Client client = make_client(with_long_ttl(patient(nodes_->urls())));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(soon_gone(resource));
}

TEST_P(NodesKilled, UnderAHeldLeaseDoNotEndIt) {
  Client client = make_client(with_long_ttl(patient(nodes_->urls())));
  const auto resource = fresh_resource();
  AcquireOptions options{.ttl = seconds(3)};
  std::atomic<int> lost{0};
  options.on_lost = [&](const Error&) { ++lost; };
  auto lease = client.try_acquire(resource, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource, 5));
  for (std::size_t i = 0; i < GetParam(); ++i) (*nodes_)[i].kill();
  const auto deadline = lease->valid_until();
  // The lease is renewed twice beyond the time at which it would have ended.
  EXPECT_TRUE(
      eventually([&] { return lease->valid_until() > deadline + seconds(1); }, seconds(20)));
  EXPECT_TRUE(lease->valid());
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(soon_gone(resource));
}

INSTANTIATE_TEST_SUITE_P(OneAndTwoOfFive, NodesKilled, testing::Values(1, 2));

TEST_F(NodeOutages, ThreeKilledOfFiveAreAnOutageThatNamesThem) {
  Client client = make_client(with_long_ttl(patient(nodes_->urls())));
  ASSERT_TRUE(all_vote(client));
  for (std::size_t i = 0; i < 3; ++i) (*nodes_)[i].kill();
  const auto resource = fresh_resource();
  // The node timeouts are twenty seconds, but the call does not wait for dead nodes.
  auto refused = client.try_acquire(resource);
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(refused.error().round.nodes.at(i).vote, Vote::unreachable);
    EXPECT_THAT(refused.error().message, HasSubstr((*nodes_)[i].url()));
  }
  EXPECT_TRUE(soon_gone(resource));
}

TEST_F(NodesWithoutGuard, AClientCreatedDuringAnOutageSaysSoAtOnceAndWorksLater) {
  for (std::size_t i = 0; i < 3; ++i) nodes_[i].kill();
  Client client = make_client(NodesWithoutGuard::options());
  EXPECT_TRUE(failed_with(client.try_acquire(fresh_resource()), Errc::unavailable));
  auto inspection = client.inspect(fresh_resource());
  ASSERT_TRUE(succeeded(inspection));
  EXPECT_NE(inspection->nodes.at(0).error, "");
  EXPECT_TRUE(
      failed_with(client.ownership(fresh_resource(), *Token::parse("t")), Errc::unavailable));
  nodes_[0].start();
  EXPECT_TRUE(succeeded(acquire_patiently(client, fresh_resource())));
}

TEST_F(NodesWithoutGuard, AWaitingAcquireSitsAnOutageOut) {
  Client client = make_client(NodesWithoutGuard::options());
  for (std::size_t i = 0; i < 3; ++i) nodes_[i].kill();
  auto waiting = std::async(std::launch::async, [&] { return client.acquire("outage", {}); });
  nodes_[1].start();
  EXPECT_TRUE(succeeded(waiting.get()));
}

TEST_F(NodeOutages, StoppedNodesAreNotWaitedFor) {
  // A caller that waited for a hung node would wait until the test times out.
  auto options = with_long_ttl(patient(nodes_->urls()));
  options.node.shortest_timeout = options.node.longest_timeout = ages;
  Client client = make_client(options);
  ASSERT_TRUE(all_vote(client));
  (*nodes_)[1].stop();
  (*nodes_)[3].stop();
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource);
  ASSERT_TRUE(succeeded(lease));
  EXPECT_EQ(votes(lease->round(), Vote::granted), 3U);
  EXPECT_EQ(lease->round().nodes[1].vote, Vote::pending);
  EXPECT_TRUE(succeeded(lease->extend(seconds(20))));
  EXPECT_TRUE(succeeded(lease->release()));
  (*nodes_)[1].resume();
  (*nodes_)[3].resume();
  EXPECT_TRUE(soon_gone(resource));
}

TEST_F(NodeOutages, ThreeStoppedOfFiveAreAnOutageThatLeavesNothingBehind) {
  auto options = with_long_ttl(impatient(nodes_->urls()));
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  ASSERT_TRUE(all_vote(client));
  for (std::size_t i = 0; i < 3; ++i) (*nodes_)[i].stop();
  const auto resource = fresh_resource();
  auto refused = client.try_acquire(resource, {.ttl = ages});
  ASSERT_TRUE(failed_with(refused, Errc::unavailable));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(refused.error().round.nodes.at(i).vote, Vote::timeout);
    EXPECT_THAT(refused.error().message, HasSubstr((*nodes_)[i].url()));
  }
  EXPECT_THAT(refused.error().message, HasSubstr(": no answer within"));
  for (std::size_t i = 0; i < 3; ++i) (*nodes_)[i].resume();
  ASSERT_TRUE(all_vote(client));
  EXPECT_TRUE(soon_gone(resource));
}

TEST_F(NodeOutages, ALateSetIsNotLeftBehindWhenTheLeaseIsReleasedMeanwhile) {
  auto options = with_long_ttl(impatient(nodes_->urls()));
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  ASSERT_TRUE(all_vote(client));
  (*nodes_)[0].stop();
  (*nodes_)[4].stop();
  const auto resource = fresh_resource();
  auto lease = acquire_patiently(client, resource, {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::down, 0));
  ASSERT_TRUE(log.wait_for(NodeEvent::Kind::down, 4));
  ASSERT_TRUE(succeeded(lease->release()));
  (*nodes_)[0].resume();
  (*nodes_)[4].resume();
  ASSERT_TRUE(all_vote(client));
  EXPECT_TRUE(soon_gone(resource));
}

TEST_F(NodeOutages, ALateSetOverAUnixSocketIsTakenBack) {
  // The kernel delivers what was written to a Unix socket even when its writer is gone.
  NewNodes nodes(5);
  std::vector<std::string> urls;
  for (const RedisServer& node : nodes) urls.push_back(node.unix_url());
  const ClientOptions options = with_long_ttl(impatient(urls));
  open_deployment(options);
  Client client = make_client(options);
  ASSERT_TRUE(all_nodes_vote(client, nodes, 5));
  for (std::size_t i = 0; i < 3; ++i) nodes[i].stop();
  const auto resource = fresh_resource();
  ASSERT_TRUE(failed_with(client.try_acquire(resource, {.ttl = ages}), Errc::unavailable));
  for (std::size_t i = 0; i < 3; ++i) nodes[i].resume();
  ASSERT_TRUE(all_nodes_vote(client, nodes, 5));
  EXPECT_TRUE(eventually([&] { return nodes.count_held(resource) == 0; }, seconds(30)));
}

TEST_F(NodesWithoutGuard, NodesThatReturnAreUsedAgainWithoutHelp) {
  auto options = NodesWithoutGuard::options();
  EventLog log;
  options.on_node_event = log.listener();
  Client client = make_client(options);
  ASSERT_TRUE(all_nodes_vote(client, nodes_, 5));
  for (std::size_t round = 1; round <= 2; ++round) {
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) nodes_[i].kill();
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::down, 0, round));
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::down, 1, round));
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) nodes_[i].start();
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 0, round + 1));
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, 1, round + 1));
    const auto resource = fresh_resource();
    auto lease = client.try_acquire(resource);
    ASSERT_TRUE(succeeded(lease));
    EXPECT_TRUE(eventually([&] { return nodes_.count_held(resource) == 5; }, seconds(30)));
  }
  EXPECT_EQ(log.count(NodeEvent::Kind::down, 0), 2U) << "retries are no news";
  EXPECT_EQ(log.count(NodeEvent::Kind::down, 4), 0U);
}

TEST_F(NodesWithoutGuard, ARollingRestartDoesNotErodeAHeldLease) {
  Client client = make_client(NodesWithoutGuard::options());
  const auto resource = fresh_resource();
  AcquireOptions options{.ttl = seconds(4)};
  std::atomic<int> lost{0};
  options.on_lost = [&](const Error&) { ++lost; };
  auto lease = client.try_acquire(resource, std::move(options));
  ASSERT_TRUE(succeeded(lease));
  const auto token = lease->token().str();
  for (RedisServer& node : nodes_) {
    node.restart(Data::wipe);
    ASSERT_TRUE(eventually([&] { return node.get(resource) == token; }, seconds(20)))
        << "the node was not given the key again";
  }
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(eventually([&] { return nodes_.count_held(resource) == 0; }, seconds(30)));
}

TEST_F(NodeOutages, ALeaseWhoseNodesForgotItIsNotExtended) {
  Client client = make_client(with_long_ttl(patient(nodes_->urls())));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource, 5));
  for (std::size_t i = 0; i < 3; ++i) (*nodes_)[i].command({"DEL", resource});
  const auto deadline = lease->valid_until();
  auto extended = lease->extend(seconds(30));
  EXPECT_TRUE(failed_with(extended, Errc::not_holder));
  EXPECT_EQ(lease->valid_until(), deadline) << "a failure takes nothing away";
  // Somebody may have broken the lock, so most nodes do not get the key back.
  EXPECT_TRUE(failed_with(lease->extend(seconds(30)), Errc::not_holder));
  EXPECT_EQ(nodes_->count_held(resource), 2U);
  EXPECT_TRUE(lease->valid()) << "until its deadline";
}

TEST_F(NodeOutages, AMinorityThatForgotALeaseGetsItBackAndCountsFromTheNextRoundOn) {
  Client client = make_client(with_long_ttl(patient(nodes_->urls())));
  const auto resource = fresh_resource();
  auto lease = client.try_acquire(resource, {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(soon_held(resource, 5));
  for (std::size_t i = 0; i < 2; ++i) (*nodes_)[i].command({"DEL", resource});
  EXPECT_TRUE(succeeded(lease->extend(seconds(30))));
  ASSERT_TRUE(soon_held(resource, 5));
  for (std::size_t i = 2; i < 4; ++i) (*nodes_)[i].kill();
  EXPECT_TRUE(succeeded(lease->extend(seconds(30))));
  EXPECT_TRUE(succeeded(lease->release()));
}

/// Runs 100 lock cycles with one node stopped; returns the keys, so that all can be found.
std::vector<std::string> cycle_beside_a_stopped_node(Client& client) {
  std::vector<std::string> resources;
  for (int i = 0; i < 100; ++i) {
    resources.push_back(fresh_resource());
    auto lease = client.try_acquire(resources.back(), {.ttl = minutes(10)});
    EXPECT_TRUE(succeeded(lease));
    if (!lease) break;
    EXPECT_TRUE(succeeded(lease->release()));
  }
  return resources;
}

TEST_F(NodeOutages, AClientThatClosesDeliversWhatAStoppedNodeMayExecuteYet) {
  // A node timeout that the stopped node does not exceed.
  ClientOptions options = with_long_ttl(patient(nodes_->urls()));
  options.node.shortest_timeout = options.node.longest_timeout = seconds(60);
  Client client = make_client(std::move(options));
  ASSERT_TRUE(all_vote(client));
  (*nodes_)[0].stop();
  const auto resources = cycle_beside_a_stopped_node(client);
  auto closing = std::async(std::launch::async, [&] { return client.close(); });
  EXPECT_EQ(closing.wait_for(milliseconds(50)), std::future_status::timeout);
  (*nodes_)[0].resume();
  const auto report = closing.get();
  ASSERT_TRUE(succeeded(report));
  EXPECT_TRUE(report->undelivered.empty());
  for (const auto& resource : resources) EXPECT_EQ((*nodes_)[0].get(resource), std::nullopt);
  EXPECT_TRUE(failed_with(client.try_acquire("r"), Errc::closed));
}

TEST_F(NodeOutages, AClientThatClosesNamesANodeThatItCouldNotReach) {
  EventLog log;
  ClientOptions options = with_long_ttl(impatient(nodes_->urls()));
  options.on_node_event = log.listener();
  Client client = make_client(std::move(options));
  ASSERT_TRUE(all_vote(client));
  (*nodes_)[0].stop();
  static_cast<void>(cycle_beside_a_stopped_node(client));
  const auto report = client.close();
  ASSERT_TRUE(succeeded(report));
  ASSERT_EQ(report->undelivered.size(), 1U);
  EXPECT_EQ(report->undelivered[0].node, 0U);
  EXPECT_EQ(report->undelivered[0].url, (*nodes_)[0].url());
  EXPECT_GT(report->undelivered[0].releases, 0U);
  EXPECT_TRUE(report->undelivered[0].may_write_late);
  EXPECT_GT(report->undelivered[0].left, seconds(0));
  EXPECT_EQ(log.count(NodeEvent::Kind::undelivered, 0), 1U);
}

TEST(ClosingClient, SaysHowLongTheKeyOfANodeThatHangsStays) {
  Nodes nodes(3);
  EventLog log;
  ClientOptions options = impatient(nodes.urls());
  options.on_node_event = log.listener();
  Client client = make_client(std::move(options));
  ASSERT_TRUE(all_nodes_vote(client, nodes, 3));
  const auto lease = client.try_acquire("r", {.ttl = seconds(20)});
  ASSERT_TRUE(succeeded(lease));
  ASSERT_TRUE(eventually([&] { return nodes[0].get("r").has_value(); }));
  nodes[0].stop();
  const auto report = client.close();
  ASSERT_TRUE(succeeded(report));
  ASSERT_EQ(report->undelivered.size(), 1U);
  EXPECT_EQ(report->undelivered[0].url, nodes[0].url());
  EXPECT_FALSE(report->undelivered[0].may_write_late);
  EXPECT_GT(report->undelivered[0].left, seconds(0));
  EXPECT_LE(report->undelivered[0].left, milliseconds(20'300)) << "the TTL, and the drift";
  EXPECT_EQ(log.count(NodeEvent::Kind::undelivered, 0), 1U);
}

}  // namespace
}  // namespace redlock::test
