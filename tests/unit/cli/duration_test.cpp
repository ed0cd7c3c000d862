#include "common/text/duration.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

TEST(CliDuration, HasAllItsUnits) {
  EXPECT_EQ(parse_duration("7us").value, 7us);
  EXPECT_EQ(parse_duration("250ms").value, 250ms);
  EXPECT_EQ(parse_duration("10s").value, 10s);
  EXPECT_EQ(parse_duration("2m").value, 2min);
  EXPECT_EQ(parse_duration("3h").value, 3h);
  EXPECT_EQ(parse_duration("0s").value, 0s);
  EXPECT_EQ(parse_duration("007s").value, 7s);
}

TEST(CliDuration, RefusesABareNumber) {
  EXPECT_EQ(parse_duration("10").problem, "has no unit");
  EXPECT_EQ(parse_duration("0").problem, "has no unit");
}

TEST(CliDuration, RefusesWhatIsNegative) {
  EXPECT_EQ(parse_duration("-5s").problem, "is negative");
}

TEST(CliDuration, RefusesWhatIsNone) {
  for (const auto* text : {"", "s", "ms", "1.5s", "1e3s", "+1s", " 1s", "1s ", "1 s", "1S", "1sec",
                           "1m30s", "0x1s", "ten seconds"}) {
    EXPECT_FALSE(parse_duration(text).value) << text;
    EXPECT_EQ(parse_duration(text).problem, "is no duration") << text;
  }
}

TEST(CliDuration, GoesToTheEndOf64BitsAndNotBeyond) {
  EXPECT_EQ(parse_duration("9223372036854775us").value, 9223372036854775us);
  for (const auto* text : {"9223372036854776us", "9223372037s", "2562048h", "9223372036854775808us",
                           "99999999999999999999999999s"}) {
    EXPECT_EQ(parse_duration(text).problem, "is too long to be counted") << text;
  }
}

TEST(CliDuration, IsReadableForPeople) {
  EXPECT_EQ(format_duration(412us), "412 µs");
  EXPECT_EQ(format_duration(1500us), "1.5 ms");
  EXPECT_EQ(format_duration(9891ms), "9.891 s");
  EXPECT_EQ(format_duration(2h), "120.0 min");
}

static_assert(parse_duration("10s").value == 10s);

}  // namespace
}  // namespace redlock::cli
