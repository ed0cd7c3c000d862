#include "core/duties/clocks.hpp"

#include <gtest/gtest.h>

#include "borrowed.hpp"

namespace redlock::core::test {
namespace {

using Shown = Clocks::Shown;

struct ClocksDuty : testing::Test {
  static Settings guarded() {
    Settings settings = settings_of(3);
    settings.clock_guard = true;
    settings.quarantine = 30s;
    return settings;
  }
  /// The reading of a node's clock that is `ahead` since the beginning.
  Shown shows(NodeIndex node, Duration ahead) {
    const Duration time = 1000000s + borrowed.now.time_since_epoch() + ahead;
    return clocks.showed(node, time, {borrowed.now, 1ms});
  }

  Borrowed borrowed{guarded()};
  Clocks clocks{borrowed.settings, borrowed.now, borrowed.nodes, borrowed.outbox};
};

TEST_F(ClocksDuty, AreReadOfANodeThatCameUp) {
  clocks.came_up(1);
  EXPECT_EQ(borrowed.asked(Verb::read_clock), NodeSet::of(1));
  EXPECT_EQ(shows(1, 0s), Shown::first);
  EXPECT_EQ(shows(1, 0s), Shown::as_before);
}

TEST_F(ClocksDuty, OfAMinorityThatStepAreWrong) {
  for (NodeIndex node = 0; node < 3; ++node) EXPECT_EQ(shows(node, 0s), Shown::first);
  borrowed.begin_step(1s);
  EXPECT_EQ(shows(0, 5s), Shown::opened);
  clocks.ask_witnesses();
  EXPECT_EQ(borrowed.asked(Verb::read_clock), NodeSet::first(3));
  EXPECT_FALSE(clocks.judge()) << "the others have not been read since";
  EXPECT_FALSE(clocks.doubt_has_lapsed());
  borrowed.begin_step(10ms);
  EXPECT_EQ(shows(1, 0s), Shown::in_doubt);
  EXPECT_EQ(shows(2, 0s), Shown::in_doubt);
  const auto verdict = clocks.judge();
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->ours);
  EXPECT_EQ(verdict->excluded, NodeSet::of(0));
  const Instant judged = borrowed.now;
  clocks.end_doubt(verdict->excluded);
  EXPECT_EQ(borrowed.count<NodeExcluded>(), 1U);
  EXPECT_FALSE(clocks.judge());
  EXPECT_TRUE(clocks.was_in_doubt_since(judged));
  EXPECT_FALSE(clocks.was_in_doubt_since(later(judged, 1ns)));
}

TEST_F(ClocksDuty, ThatAllStepAlikeSayThatOursStoodStill) {
  for (NodeIndex node = 0; node < 3; ++node) EXPECT_EQ(shows(node, 0s), Shown::first);
  borrowed.begin_step(1s);
  EXPECT_EQ(shows(0, 5s), Shown::opened);
  EXPECT_EQ(shows(1, 5s), Shown::stepped);
  EXPECT_EQ(shows(2, 5s), Shown::stepped);
  const auto verdict = clocks.judge();
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ours);
  EXPECT_TRUE(verdict->excluded.empty());
  EXPECT_EQ(borrowed.count<StoodStill>(), 1U);
}

TEST_F(ClocksDuty, ThatMayNotBeReadCostTheVote) {
  EXPECT_FALSE(clocks.refused(0, "BUSY a script runs"));
  EXPECT_TRUE(clocks.refused(0, "NOPERM this user has no permissions"));
  EXPECT_FALSE(borrowed.nodes[0].mandate->ineligible().empty());
  EXPECT_EQ(borrowed.count<NodeExcluded>(), 1U);
}

TEST_F(ClocksDuty, ComeWithTheKeysThatANodeEvicted) {
  EXPECT_FALSE(clocks.evicted(2, 0));
  EXPECT_TRUE(clocks.evicted(2, 7));
  EXPECT_FALSE(borrowed.nodes[2].mandate->ineligible().empty());
  EXPECT_FALSE(clocks.evicted(2, 7));
}

TEST_F(ClocksDuty, HaveANodeSayItsPolicyWhoseNumberOfEvictionsWasReset) {
  ASSERT_TRUE(clocks.evicted(1, 7));
  borrowed.go_down(1);
  borrowed.come_up(1, "server1", 7);
  EXPECT_FALSE(clocks.evicted(1, 0));
  EXPECT_TRUE(borrowed.nodes[1].mandate->ineligible().empty());
  EXPECT_TRUE(borrowed.nodes[1].role_check_due(borrowed.now));
}

TEST_F(ClocksDuty, TakeANumberThatFellAndRoseForEvictions) {
  ASSERT_TRUE(clocks.evicted(1, 7));
  EXPECT_TRUE(clocks.evicted(1, 6));
  EXPECT_EQ(borrowed.nodes[1].evicted(), 6U);
}

}  // namespace
}  // namespace redlock::core::test
