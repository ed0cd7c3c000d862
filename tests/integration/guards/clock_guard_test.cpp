// Nodes whose wall clock leaps: their keys vanish, or stay too long.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/guarded.hpp"

namespace redlock::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

/// Longer than any of these tests takes.
constexpr auto ages = minutes(20);

class ClockGuard : public testing::Test {
 protected:
  void SetUp() override {
    nodes_.emplace(3, RedisServerOptions{.clock = ServerClock::movable}, ages);
  }

  [[nodiscard]] ClientOptions options() const {
    auto options = patient(nodes_->urls());
    options.max_ttl = ages;
    return options;
  }
  [[nodiscard]] Client client() const { return make_client(options()); }
  /// A client that all nodes have answered.
  [[nodiscard]] Client connected_client() const {
    Client client = ClockGuard::client();
    EXPECT_TRUE(eventually([&] {
      const auto inspection = client.inspect("r");
      return inspection &&
             std::all_of(inspection->nodes.begin(), inspection->nodes.end(),
                         [](const NodeInspection& node) { return node.error.empty(); });
    }));
    return client;
  }

  std::optional<Nodes> nodes_;
};

TEST_F(ClockGuard, ANodeThatLeaptForwardDoesNotVoteForAClientThatKnewItBefore) {
  Client holder = client();
  Client contender = connected_client();
  const auto lease = acquire_on_first_two(holder, *nodes_, "r", {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  // The client does not read a clock again for the next vote within a few milliseconds.
  const auto met = BootClock::now();
  ASSERT_TRUE(eventually([&] { return BootClock::now() > met + milliseconds(50); }));
  (*nodes_)[0].move_clock(hours(1));
  ASSERT_EQ((*nodes_)[0].get("r"), std::nullopt) << "its lock ran out early";
  for (int i = 0; i < 20; ++i) {
    const auto refused = contender.try_acquire("r");
    ASSERT_FALSE(refused && lease->valid()) << "two leases at once";
  }
  const auto refused = contender.try_acquire("r");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().code, testing::AnyOf(Errc::excluded, Errc::split, Errc::held));
  const NodeVote& node = refused.error().round.nodes.at(0);
  EXPECT_EQ(node.vote, Vote::excluded);
  EXPECT_THAT(node.message, HasSubstr("clock"));
}

TEST_F(ClockGuard, ANodeThatLeaptForwardDoesNotVoteForAClientThatMeetsItLater) {
  Client holder = client();
  const auto lease = acquire_on_first_two(holder, *nodes_, "r", {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  (*nodes_)[0].move_clock(hours(1));
  Client contender = client();
  for (int i = 0; i < 20; ++i) {
    const auto refused = contender.try_acquire("r");
    ASSERT_FALSE(refused && lease->valid())
        << "two leases at once" << testing::PrintToString(i) << " "
        << to_string(refused->round().nodes[0].vote) << to_string(refused->round().nodes[1].vote)
        << to_string(refused->round().nodes[2].vote);
  }
  const auto refused = contender.try_acquire("r");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().round.nodes.at(0).vote, Vote::excluded);
  EXPECT_THAT(refused.error().round.nodes.at(0).message, HasSubstr("clock"));
  // The two other nodes are a majority for a free resource.
  EXPECT_TRUE(succeeded(contender.try_acquire("other")));
}

TEST_F(ClockGuard, WhatTheGuardsKeepApartARawSetWouldNot) {
  Client holder = client();
  const auto lease = acquire_on_first_two(holder, *nodes_, "r", {.ttl = ages});
  ASSERT_TRUE(succeeded(lease));
  (*nodes_)[0].move_clock(hours(1));
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    EXPECT_TRUE((*nodes_)[i].command({"SET", "r", "t", "NX", "PX", "10000"}).is_ok());
  }
  EXPECT_TRUE(lease->valid());
}

TEST_F(ClockGuard, AHolderThatKeepsAMajorityIsNotTroubledByOneNode) {
  Client holder = client();
  AcquireOptions acquire{.ttl = seconds(6)};
  std::atomic<int> lost{0};
  acquire.on_lost = [&](const Error&) { ++lost; };
  const auto lease = holder.try_acquire("r", std::move(acquire));
  ASSERT_TRUE(succeeded(lease));
  (*nodes_)[0].move_clock(hours(1));
  const auto deadline = lease->valid_until();
  EXPECT_TRUE(
      eventually([&] { return lease->valid_until() > deadline + seconds(3); }, seconds(30)));
  EXPECT_TRUE(lease->valid());
  EXPECT_EQ(lost, 0);
}

TEST_F(ClockGuard, AHolderLearnsLongBeforeItsDeadlineThatTwoNodesLetItsLockRunOut) {
  std::atomic<int> lost{0};
  {
    Client holder = client();
    AcquireOptions acquire{.ttl = ages};
    acquire.on_lost = [&](const Error&) { ++lost; };
    const auto lease = holder.try_acquire("r", std::move(acquire));
    ASSERT_TRUE(succeeded(lease));
    (*nodes_)[0].move_clock(hours(1));
    (*nodes_)[1].move_clock(hours(1));
    EXPECT_TRUE(eventually([&] { return lost > 0; }, seconds(60)));
    EXPECT_FALSE(lease->valid());
    EXPECT_EQ(lease->remaining(), seconds(0));
    EXPECT_TRUE(lease->lost().stop_requested());
    (*nodes_)[2].move_clock(hours(1));
    EXPECT_FALSE(holder.try_acquire("r")) << "nodes that leapt vote for nobody";
  }
  EXPECT_EQ(lost, 1);
}

TEST_F(ClockGuard, ASmallLeapShortensALeaseByAsMuch) {
  Client holder = client();
  const auto lease = holder.try_acquire("r", {.ttl = ages, .renew = false});
  ASSERT_TRUE(succeeded(lease));
  const auto deadline = lease->valid_until();
  (*nodes_)[0].move_clock(minutes(5));
  (*nodes_)[1].move_clock(minutes(5));
  EXPECT_TRUE(
      eventually([&] { return lease->valid_until() < deadline - minutes(4); }, seconds(60)));
  EXPECT_GT(lease->valid_until(), deadline - minutes(6));
  EXPECT_TRUE(lease->valid());
}

TEST_F(ClockGuard, ThatOfAMachineThatStoodStillCostsNoNodeItsVote) {
  // To the client, a pause of its own clock and a leap of all other clocks look the same.
  const EventLog log;
  ClientOptions options = ClockGuard::options();
  options.on_node_event = log.listener();
  Client client = make_client(options);
  for (std::size_t i = 0; i < nodes_->size(); ++i) {
    ASSERT_TRUE(log.wait_for(NodeEvent::Kind::up, i));
  }
  std::atomic<int> lost{0};
  AcquireOptions acquire{.ttl = minutes(4), .renew = false};
  acquire.on_lost = [&](const Error&) { ++lost; };
  const auto short_one = client.try_acquire("short", std::move(acquire));
  const auto long_one = client.try_acquire("long", {.ttl = ages, .renew = false});
  ASSERT_TRUE(succeeded(short_one));
  ASSERT_TRUE(succeeded(long_one));
  const auto deadline = long_one->valid_until();
  // The nodes are stopped, so that the client reads no clock while only some have moved.
  for (RedisServer& node : *nodes_) node.stop();
  for (RedisServer& node : *nodes_) node.move_clock(minutes(5));
  for (RedisServer& node : *nodes_) node.resume();
  EXPECT_TRUE(eventually([&] { return lost > 0; }, seconds(60))) << "it has run out meanwhile";
  EXPECT_TRUE(long_one->valid());
  EXPECT_TRUE(
      eventually([&] { return long_one->valid_until() < deadline - minutes(4); }, seconds(60)));
  EXPECT_TRUE(succeeded(client.try_acquire("another"))) << "nobody is in quarantine";
  const auto count = [&](NodeEvent::Kind kind) {
    std::size_t all = 0;
    for (std::size_t i = 0; i < nodes_->size(); ++i) all += log.count(kind, i);
    return all;
  };
  EXPECT_EQ(count(NodeEvent::Kind::paused), 1U);
  std::string reported;
  for (std::size_t i = 0; i < nodes_->size(); ++i) {
    EXPECT_EQ(log.last_message(NodeEvent::Kind::excluded, i), "");
    reported += log.last_message(NodeEvent::Kind::paused, i);
  }
  EXPECT_THAT(reported, HasSubstr("stood still for up to 301 s"));
}

TEST_F(ClockGuard, AClockThatGoesBackEndsNoLease) {
  Client holder = client();
  Client contender = connected_client();
  AcquireOptions acquire{.ttl = seconds(6)};
  std::atomic<int> lost{0};
  acquire.on_lost = [&](const Error&) { ++lost; };
  auto lease = holder.try_acquire("r", std::move(acquire));
  ASSERT_TRUE(succeeded(lease));
  (*nodes_)[0].move_clock(-hours(1));
  const auto deadline = lease->valid_until();
  EXPECT_TRUE(
      eventually([&] { return lease->valid_until() > deadline + seconds(3); }, seconds(30)));
  EXPECT_EQ(lost, 0);
  EXPECT_FALSE(contender.try_acquire("r"));
  EXPECT_TRUE(succeeded(lease->release()));
  EXPECT_TRUE(succeeded(acquire_patiently(contender, "r")));
}

}  // namespace
}  // namespace redlock::test
