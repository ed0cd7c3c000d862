#include "core/votes/quorum.hpp"

#include <gtest/gtest.h>

namespace redlock::core::test {
namespace {

TEST(Quorum, OfAnEvenNumberIsLostWithHalfOfTheVotesDenied) {
  EXPECT_EQ(majority(4), 3U);
  EXPECT_EQ(verdict({4, 3, 2, 1}), Verdict::pending);
  EXPECT_EQ(verdict({4, 3, 2, 2}), Verdict::lost);
  EXPECT_EQ(verdict({4, 3, 3, 0}), Verdict::won);
  EXPECT_EQ(verdict({2, 2, 1, 0}), Verdict::pending);
  EXPECT_EQ(verdict({2, 2, 1, 1}), Verdict::lost);
}

}  // namespace
}  // namespace redlock::core::test
