#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "core/containers/pool.hpp"
#include "core/containers/timer_heap.hpp"
#include "core/vocabulary/durations.hpp"
#include "core/vocabulary/texts.hpp"
#include "core/votes/quorum.hpp"
#include "core/votes/round.hpp"
#include "core/votes/validity.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

constexpr Instant at(Duration since_zero) { return Instant(since_zero); }

TEST(Validity, IsTheTtlLessOnePercentAndTwoMillisecondsFromTheStartOfTheRound) {
  EXPECT_EQ(drift(10s), 102ms);
  EXPECT_EQ(valid_until(at(5s), 10s), at(14'898ms));
  EXPECT_EQ(gone_by(at(5s), 10s), at(15'102ms));
}

TEST(Validity, OfATtlThatIsAllDriftIsNone) {
  EXPECT_LT(valid_until(at(5s), 1ms), at(5s));
  EXPECT_LT(valid_until(at(5s), 2ms), at(5s));
  EXPECT_GT(valid_until(at(5s), 3ms), at(5s));
  EXPECT_LE(valid_until(at(5s), limits::shortest_ttl - 1ms), at(5s));
  EXPECT_GT(valid_until(at(5s), limits::shortest_ttl), at(5s));
}

TEST(Validity, SaturatesAtTheEndsOfTimeInsteadOfWrapping) {
  EXPECT_EQ(valid_until(Instant::max() - 1s, 10s), Instant::max());
  EXPECT_EQ(valid_until(Instant::max(), Duration::max()), Instant::max());
  EXPECT_EQ(valid_until(at(1s), Duration::max()),
            at(1s) + (Duration::max() - drift(Duration::max())));
  EXPECT_EQ(gone_by(at(1s), Duration::max()), Instant::max());
  EXPECT_EQ(later(Instant::max(), 1ns), Instant::max());
  EXPECT_EQ(later(Instant::min(), -1ns), Instant::min());
  EXPECT_EQ(later(Instant::max(), -1ns), Instant::max() - 1ns);
  EXPECT_EQ(later(at(0s), Duration::min()), Instant::min());
}

TEST(Quorum, OfAnEvenNumberIsLostWithHalfOfTheVotesDenied) {
  EXPECT_EQ(majority(4), 3U);
  EXPECT_EQ(verdict({4, 3, 2, 1}), Verdict::pending);
  EXPECT_EQ(verdict({4, 3, 2, 2}), Verdict::lost);
  EXPECT_EQ(verdict({4, 3, 3, 0}), Verdict::won);
  EXPECT_EQ(verdict({2, 2, 1, 0}), Verdict::pending);
  EXPECT_EQ(verdict({2, 2, 1, 1}), Verdict::lost);
}

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
        const Instant when = at(Duration(static_cast<Duration::rep>(random() % 1000)));
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
    const Instant when = at(Duration(static_cast<Duration::rep>(random() % 100'000)));
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

TEST(Durations, HaveNoExponents) {
  using namespace std::chrono_literals;
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

TEST(Texts, AreTakenOffOneByOneWhateverIsInThem) {
  std::string_view texts = "6:shared0:5:a:1:b";
  EXPECT_EQ(take_text(texts), "shared");
  EXPECT_EQ(take_text(texts), "");
  EXPECT_EQ(take_text(texts), "a:1:b");
  EXPECT_EQ(take_text(texts), std::nullopt);
  EXPECT_TRUE(texts.empty());
}

TEST(Texts, ThatAreNoneStayAsTheyAre) {
  for (const std::string_view none :
       {"", ":", "x", "1", "1:", "-1:a", "3:ab", "99999999999999999999:a"}) {
    std::string_view texts = none;
    EXPECT_EQ(take_text(texts), std::nullopt) << none;
    EXPECT_EQ(texts, none);
  }
}

TEST(Round, ForgetsWhatNodesSaidInTheRoundBeforeAndACopyKeepsIt) {
  Round round;
  round.begin(1, 3, 2, Instant(), 10s);
  round.record(0, Vote::refused, {"somebody", 1ms, 4s, 7, 2s, Holds{3, true}});
  round.record(1, Vote::granted, {{}, 1ms});
  const Round copy = round;
  round.begin(2, 3, 2, Instant(), 10s);
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}) {
    EXPECT_EQ(round.vote(node).vote, Vote::pending);
    EXPECT_EQ(round.vote(node).round_trip, std::nullopt);
  }
  round.record(0, Vote::refused, {{}, 1ms});
  EXPECT_EQ(round.vote(0).text, "");
  EXPECT_EQ(round.vote(0).remaining, std::nullopt);
  EXPECT_EQ(round.vote(0).number, 0U);
  EXPECT_EQ(round.vote(0).quarantine, 0s);
  EXPECT_FALSE(round.vote(0).holds);
  EXPECT_EQ(round.leading_holder(), "");
  EXPECT_EQ(copy.vote(0).text, "somebody");
  EXPECT_EQ(copy.vote(0).remaining, 4s);
  EXPECT_EQ(copy.vote(0).number, 7U);
  EXPECT_EQ(copy.vote(0).quarantine, 2s);
  ASSERT_TRUE(copy.vote(0).holds);
  EXPECT_EQ(copy.vote(0).holds->count, 3U);
  EXPECT_EQ(copy.leading_holder(), "somebody");
}

}  // namespace
}  // namespace redlock::core::test
