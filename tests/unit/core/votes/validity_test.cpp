#include "core/votes/validity.hpp"

#include <gtest/gtest.h>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

TEST(Validity, IsTheTtlLessOnePercentAndTwoMillisecondsFromTheStartOfTheRound) {
  EXPECT_EQ(drift(10s), 102ms);
  EXPECT_EQ(valid_until(Instant(5s), 10s), Instant(14'898ms));
  EXPECT_EQ(gone_by(Instant(5s), 10s), Instant(15'102ms));
}

TEST(Validity, OfATtlThatIsAllDriftIsNone) {
  EXPECT_LT(valid_until(Instant(5s), 1ms), Instant(5s));
  EXPECT_LT(valid_until(Instant(5s), 2ms), Instant(5s));
  EXPECT_GT(valid_until(Instant(5s), 3ms), Instant(5s));
  EXPECT_LE(valid_until(Instant(5s), limits::shortest_ttl - 1ms), Instant(5s));
  EXPECT_GT(valid_until(Instant(5s), limits::shortest_ttl), Instant(5s));
}

TEST(Validity, SaturatesAtTheEndsOfTimeInsteadOfWrapping) {
  EXPECT_EQ(valid_until(Instant::max() - 1s, 10s), Instant::max());
  EXPECT_EQ(valid_until(Instant::max(), Duration::max()), Instant::max());
  EXPECT_EQ(valid_until(Instant(1s), Duration::max()),
            Instant(1s) + (Duration::max() - drift(Duration::max())));
  EXPECT_EQ(gone_by(Instant(1s), Duration::max()), Instant::max());
  EXPECT_EQ(later(Instant::max(), 1ns), Instant::max());
  EXPECT_EQ(later(Instant::min(), -1ns), Instant::min());
  EXPECT_EQ(later(Instant::max(), -1ns), Instant::max() - 1ns);
  EXPECT_EQ(later(Instant(0s), Duration::min()), Instant::min());
}

}  // namespace
}  // namespace redlock::core::test
