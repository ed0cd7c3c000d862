#include "support/ring.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <numeric>
#include <random>
#include <span>
#include <vector>

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

TEST(Ring, PushesManyInTheirOrder) {
  Ring<unsigned> ring;
  std::deque<unsigned> model;
  for (unsigned count = 0; count < 200; ++count) {
    std::vector<unsigned> many(count);
    std::iota(many.begin(), many.end(), count * 1000);
    ring.push(std::span<const unsigned>(many));
    model.insert(model.end(), many.begin(), many.end());
    // Leaves some elements, so that the next ones wrap at other positions.
    while (model.size() > count / 3) {
      ASSERT_EQ(ring.front(), model.front());
      ring.pop();
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
  }
}

TEST(RingDeathTest, TakingFromAnEmptyQueueEndsTheProgram) {
  Ring<int> ring;
  EXPECT_DEATH(ring.pop(), "");
}

}  // namespace
}  // namespace redlock::support
