#include "support/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace redlock::support {
namespace {

TEST(Ring, BehavesLikeAQueueWhateverTheOrderOfPushesAndPops) {
  std::mt19937 random(1);
  Ring<unsigned> ring;
  std::deque<unsigned> model;
  for (unsigned step = 0; step < 20'000; ++step) {
    // Phases of growth and of shrinking, so that it wraps at many sizes.
    const bool push = random() % 100 < ((step / 500) % 2 == 0 ? 60U : 40U);
    if (push || model.empty()) {
      ring.push(step);
      model.push_back(step);
    } else {
      ring.pop();
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(ring.front(), model.front());
    }
  }
}

TEST(RingDeathTest, TakingFromAnEmptyQueueEndsTheProgram) {
  Ring<int> ring;
  EXPECT_DEATH(ring.pop(), "");
}

}  // namespace
}  // namespace redlock::support
