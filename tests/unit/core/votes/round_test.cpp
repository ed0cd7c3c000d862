#include "core/votes/round.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

TEST(Round, ForgetsWhatNodesSaidInTheRoundBeforeAndACopyKeepsIt) {
  Round round;
  round.begin(1, 3, 2, Instant(), 10s);
  round.record(0, Vote::refused, {"somebody", 1ms, 4s, 7, 2s, Holds{3, true}});
  round.record(1, Vote::granted, {{}, 1ms});
  const Round copy = round;
  round.begin(2, 3, 2, Instant(), 10s);
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}) {
    EXPECT_EQ(round.vote(node).vote, Vote::pending);
    EXPECT_EQ(round.vote(node).round_trip, std::nullopt);
  }
  round.record(0, Vote::refused, {{}, 1ms});
  EXPECT_EQ(round.vote(0).text, "");
  EXPECT_EQ(round.vote(0).remaining, std::nullopt);
  EXPECT_EQ(round.vote(0).number, 0U);
  EXPECT_EQ(round.vote(0).quarantine, 0s);
  EXPECT_FALSE(round.vote(0).holds);
  EXPECT_EQ(round.leading_holder(), "");
  EXPECT_EQ(copy.vote(0).text, "somebody");
  EXPECT_EQ(copy.vote(0).remaining, 4s);
  EXPECT_EQ(copy.vote(0).number, 7U);
  EXPECT_EQ(copy.vote(0).quarantine, 2s);
  ASSERT_TRUE(copy.vote(0).holds);
  EXPECT_EQ(copy.vote(0).holds->count, 3U);
  EXPECT_EQ(copy.leading_holder(), "somebody");
}

}  // namespace
}  // namespace redlock::core::test
