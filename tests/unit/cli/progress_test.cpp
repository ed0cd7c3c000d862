#include "common/session/progress.hpp"

#include <gtest/gtest.h>

namespace redlock::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(TimeLeft, IsNotKnownBeforeAStepIsDoneUnlessItsLengthIs) {
  EXPECT_EQ(time_left({.steps = 4}), std::nullopt);
  EXPECT_EQ(time_left({.steps = 4, .in_step = seconds(1), .expected = seconds(5)}), seconds(19));
}

TEST(TimeLeft, FollowsTheStepsThatAreDone) {
  const Pace pace{.steps = 4,
                  .done = 2,
                  .before_step = seconds(12),
                  .in_step = seconds(2),
                  .expected = seconds(5)};
  EXPECT_EQ(time_left(pace), seconds(10));
}

TEST(TimeLeft, IsNeverNegative) {
  EXPECT_EQ(time_left({.steps = 1, .in_step = seconds(9), .expected = seconds(5)}), nanoseconds(0));
  EXPECT_EQ(time_left({.steps = 2, .done = 5, .before_step = seconds(9)}), nanoseconds(0));
}

TEST(ProgressLine, ShowsTheBarTheTimeAndTheStep) {
  const Pace half{.steps = 2, .done = 1, .before_step = seconds(45), .in_step = milliseconds(100)};
  EXPECT_EQ(progress_line(half, "5 nodes", 80), "[##########..........] 45 s left  5 nodes");
}

TEST(ProgressLine, MovesWithinAStep) {
  const Pace pace{.steps = 1, .in_step = seconds(5), .expected = seconds(10)};
  EXPECT_EQ(progress_line(pace, "x", 80), "[##########..........] 5 s left  x");
}

TEST(ProgressLine, SaysNothingOfTimeThatItCannotKnow) {
  EXPECT_EQ(progress_line({.steps = 3, .in_step = seconds(4)}, "x", 80),
            "[....................]  x");
}

TEST(ProgressLine, KnowsMinutesAndHours) {
  EXPECT_NE(progress_line({.expected = seconds(125)}, "x", 80).find(" 2:05 min left"),
            std::string::npos);
  EXPECT_NE(progress_line({.expected = hours(3)}, "x", 80).find(" 3:00 h left"), std::string::npos);
}

TEST(ProgressLine, FitsTheTerminal) {
  EXPECT_EQ(progress_line({.steps = 3}, "a long word", 24), "[....................]  ");
}

}  // namespace
}  // namespace redlock::cli
