#include "core/vocabulary/durations.hpp"

#include <gtest/gtest.h>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

TEST(Durations, HaveNoExponents) {
  EXPECT_EQ(format_duration(0ns), "0 ms");
  EXPECT_EQ(format_duration(10ns), "10 ns");
  EXPECT_EQ(format_duration(-10ns), "-10 ns");
  EXPECT_EQ(format_duration(250us), "0.25 ms");
  EXPECT_EQ(format_duration(999ms), "999 ms");
  EXPECT_EQ(format_duration(1'499'500us * 1000), "1500 s");
  EXPECT_EQ(format_duration(-1'499'500us * 1000), "-1500 s");
  EXPECT_EQ(format_duration(1'499'499us * 1000), "1499 s");
  EXPECT_EQ(format_duration(29'698ms), "29.7 s");
  EXPECT_EQ(format_duration(10'000s), "10000 s");
  EXPECT_EQ(format_duration(Duration::max()), "9223372037 s");
  EXPECT_EQ(format_duration(Duration::min()), "-9223372037 s");
}

}  // namespace
}  // namespace redlock::core::test
