#include "common/text/nearest.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {
namespace {

const std::vector<std::string> known_to_nearest = {"acquire", "inspect", "release", "run",
                                                   "ttl",     "timeout", "list"};

TEST(CliNearest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(nearest("acquier", known_to_nearest), "acquire");
  EXPECT_EQ(nearest("relase", known_to_nearest), "release");
  EXPECT_EQ(nearest("rnu", known_to_nearest), "run");
  EXPECT_EQ(nearest("tll", known_to_nearest), "ttl");
  EXPECT_EQ(nearest("time-out", known_to_nearest), "timeout");
}

TEST(CliNearest, FindsTheOnlyWordThatBeginsSo) {
  EXPECT_EQ(nearest("insp", known_to_nearest), "inspect");
  EXPECT_EQ(nearest("re", known_to_nearest), "release");
  EXPECT_EQ(nearest("t", known_to_nearest), std::nullopt);
}

TEST(CliNearest, FindsNothingFarAway) {
  EXPECT_EQ(nearest("lock", known_to_nearest), std::nullopt);
  EXPECT_EQ(nearest("frobnicate", known_to_nearest), std::nullopt);
  EXPECT_EQ(nearest("", known_to_nearest), std::nullopt);
  EXPECT_EQ(nearest(std::string(10'000, 'x'), known_to_nearest), std::nullopt);
}

}  // namespace
}  // namespace redlock::cli
