#include "core/containers/pool.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace redlock::core::test {
namespace {

struct Slot {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;
  std::vector<int> payload;
};

TEST(Pool, GivesAReusedSlotANewGenerationSoThatAStaleNameFindsNothing) {
  Pool<Slot> pool;
  Slot& first = pool.take();
  const std::uint32_t index = first.index;
  const std::uint32_t generation = first.generation;
  EXPECT_NE(generation, 0U);
  EXPECT_EQ(pool.find(index, generation), &first);
  pool.give_back(first);
  EXPECT_EQ(pool.find(index, generation), nullptr);
  Slot& second = pool.take();
  EXPECT_EQ(second.index, index);
  EXPECT_EQ(pool.find(index, generation), nullptr);
  EXPECT_EQ(pool.find(index, second.generation), &second);
  EXPECT_EQ(pool.find(index + 1, 1), nullptr);
}

TEST(Pool, NeverHandsOutTheGenerationThatNamesNone) {
  Pool<Slot> pool;
  Slot& slot = pool.take();
  slot.generation = UINT32_MAX;
  pool.give_back(slot);
  EXPECT_EQ(pool.take().generation, 1U);
}

TEST(Pool, KeepsAddressesAndVisitsTheLivingWhileItGrows) {
  Pool<Slot> pool;
  Slot& first = pool.take();
  int visited = 0;
  pool.each([&](Slot&) {
    if (++visited > 1) return;
    for (int i = 0; i < 1000; ++i) static_cast<void>(pool.take());
  });
  EXPECT_EQ(pool.size(), 1001U);
  EXPECT_EQ(pool.find(first.index, first.generation), &first);
}

}  // namespace
}  // namespace redlock::core::test
