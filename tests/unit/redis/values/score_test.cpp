#include "redis/values/score.hpp"

#include <gtest/gtest.h>

namespace redlock::test {
namespace {

// tests/CMakeLists.txt also compiles this without the functions that older libraries lack.

TEST(Score, IsReadAsServersWriteIt) {
  EXPECT_EQ(redis::score_in("1781000000000001"), 1781000000000001.0);
  EXPECT_EQ(redis::score_in("1.781e+15"), 1781000000000000.0);
  EXPECT_EQ(redis::score_in("-2.5"), -2.5);
  EXPECT_GT(redis::score_in("inf"), 1e300);
}

TEST(Score, IsAWholeText) {
  for (const char* text : {"", " 1", "1 ", "1x", "x", "1.2.3", "--1"}) {
    EXPECT_FALSE(redis::score_in(text)) << text;
  }
  EXPECT_FALSE(redis::score_in(std::string_view("1\0002", 3)));
  EXPECT_FALSE(redis::score_in(std::string(100, '1') + "x"));
}

}  // namespace
}  // namespace redlock::test
