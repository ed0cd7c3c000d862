#include "core/containers/timer_heap.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

TEST(TimerHeap, AgreesWithAMultimapUnderRandomOperations) {
  std::mt19937_64 random(42);
  TimerHeap heap;
  std::map<std::uint32_t, Instant> model;
  for (int i = 0; i < 200'000; ++i) {
    const auto key = static_cast<std::uint32_t>(random() % 200);
    switch (random() % 4) {
      case 0:
        heap.set(key, std::nullopt);
        model.erase(key);
        break;
      case 1: {
        const TimerHeap::Entry* top = heap.top();
        if (top == nullptr) break;
        const std::uint32_t first = top->key;
        heap.set(first, std::nullopt);
        model.erase(first);
        break;
      }
      default: {
        const Instant when = Instant(Duration(static_cast<Duration::rep>(random() % 1000)));
        heap.set(key, when);
        model[key] = when;
        break;
      }
    }
    std::multimap<Instant, std::uint32_t> sorted;
    if (i % 64 == 0) {
      for (const auto& [k, when] : model) sorted.emplace(when, k);
    }
    const TimerHeap::Entry* top = heap.top();
    ASSERT_EQ(top == nullptr, model.empty());
    if (top == nullptr) continue;
    const auto mine = model.find(top->key);
    ASSERT_NE(mine, model.end());
    ASSERT_EQ(mine->second, top->at);
    if (sorted.empty()) continue;
    ASSERT_EQ(sorted.begin()->first, top->at);
  }
}

TEST(TimerHeap, HandsOutEverythingInTheOrderOfTime) {
  std::mt19937_64 random(7);
  TimerHeap heap;
  std::multimap<Instant, std::uint32_t> model;
  for (std::uint32_t key = 0; key < 5000; ++key) {
    const Instant when = Instant(Duration(static_cast<Duration::rep>(random() % 100'000)));
    heap.set(key, when);
    model.emplace(when, key);
  }
  for (const auto& [when, key] : model) {
    ASSERT_NE(heap.top(), nullptr);
    ASSERT_EQ(heap.top()->at, when);
    heap.set(heap.top()->key, std::nullopt);
  }
  EXPECT_EQ(heap.top(), nullptr);
}

}  // namespace
}  // namespace redlock::core::test
