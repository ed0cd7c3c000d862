#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "runtime/kernel_randomness.hpp"
#include "support/secure_random.hpp"

namespace redlock {
namespace {

using support::EntropySource;
using support::Mask;
using support::SecureRandom;

/// As many words as a token takes.
using Number = std::array<std::uint64_t, 3>;

Number draw(SecureRandom& random) {
  Number number{};
  random.fill(number);
  return number;
}

/// Counts what is drawn. Its kernel gives distinct words; the processor gives distinct masks, or
/// none.
class CountingSource final : public EntropySource {
 public:
  void fill_from_kernel(std::span<std::uint64_t> out) noexcept override {
    words_per_fetch.push_back(out.size());
    for (std::uint64_t& word : out) word = ++kernel_words_;
  }
  bool draw_from_processor(Mask& mask) noexcept override {
    ++masks;
    mask = {repeats_itself ? ~0ULL : masks << 40U, repeats_itself ? ~0ULL : masks << 50U};
    return processor_can_draw;
  }

  std::vector<std::size_t> words_per_fetch;
  std::uint64_t masks = 0;
  bool processor_can_draw = true;
  bool repeats_itself = false;

 private:
  std::uint64_t kernel_words_ = 0;
};

/// `turns` turns in each of which `numbers` are drawn; fails if two of all are equal.
void take_turns(SecureRandom& random, int turns, int numbers, std::set<Number>& seen) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = 0; i < numbers; ++i) {
      EXPECT_TRUE(seen.insert(draw(random)).second) << "turn " << turn << ", number " << i;
    }
    random.end_turn();
  }
}

TEST(Randomness, OneTokenInATurnCostsASystemCallInAHundredTurns) {
  CountingSource source;
  runtime::KernelRandomness random(source);
  std::set<Token> seen;
  for (int turn = 0; turn < 200; ++turn) {
    EXPECT_TRUE(seen.insert(random.token()).second);
    random.end_turn();
  }
  EXPECT_EQ(source.words_per_fetch.size(), 2U);
  EXPECT_EQ(source.masks, 200U);
}

TEST(Randomness, ATurnOfManyTokensDrawsOneMask) {
  CountingSource source;
  SecureRandom random(source);
  std::set<Number> seen;
  take_turns(random, 10, 64, seen);
  EXPECT_EQ(source.masks, 10U);
  EXPECT_EQ(source.words_per_fetch.size(), 7U);  // a hundred of the 640 each
}

TEST(Randomness, WithoutAMaskATurnFetchesAsMuchAsTheLastOneNeeded) {
  CountingSource source;
  source.processor_can_draw = false;
  SecureRandom random(source);
  std::set<Number> seen;
  take_turns(random, 2, 1, seen);
  EXPECT_EQ(source.words_per_fetch, std::vector<std::size_t>({3, 3}));
  source.words_per_fetch.clear();

  take_turns(random, 1, 64, seen);  // more than expected: it catches up by doubling
  EXPECT_LE(source.words_per_fetch.size(), 8U);
  source.words_per_fetch.clear();

  take_turns(random, 1, 64, seen);
  random.end_turn();  // a turn that needs nothing changes nothing
  take_turns(random, 1, 20, seen);
  take_turns(random, 1, 1, seen);
  EXPECT_EQ(source.words_per_fetch, std::vector<std::size_t>({192, 192, 60}));
}

TEST(Randomness, ATurnWithoutAMaskUsesNothingThatWasKept) {
  for (const bool repeats_itself : {false, true}) {
    CountingSource source;
    SecureRandom random(source);
    std::set<Number> seen;
    take_turns(random, 1, 1, seen);
    source.processor_can_draw = repeats_itself;
    source.repeats_itself = repeats_itself;
    for (std::size_t turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(source.words_per_fetch.size(), 1 + turn);
      take_turns(random, 1, 1, seen);
    }
    source.processor_can_draw = true;
    source.repeats_itself = false;
    take_turns(random, 200, 1, seen);
    EXPECT_LE(source.words_per_fetch.size(), 4U + 2U);
  }
}

/// Numbers of `count` copies that are made of `original` between two turns, a few turns of each.
std::set<Number> numbers_of_copies(const SecureRandom& original, int count, int& drawn) {
  std::set<Number> seen;
  drawn = 0;
  for (int i = 0; i < count; ++i) {
    SecureRandom copy = original;
    for (const int numbers : {1, 3, 120, 1}) {
      for (int n = 0; n < numbers; ++n, ++drawn) seen.insert(draw(copy));
      copy.end_turn();
    }
  }
  return seen;
}

TEST(Randomness, CopiesOfAMachineBetweenTurnsNeverDrawTheSame) {
  SecureRandom random;
  for (int turn = 0; turn < 120; ++turn) {
    static_cast<void>(draw(random));
    random.end_turn();
    int drawn = 0;
    const std::set<Number> seen = numbers_of_copies(random, 3, drawn);
    ASSERT_EQ(seen.size(), static_cast<std::size_t>(drawn));
  }
}

/// A kernel that does not notice that its machine was copied: every copy gets the same from it.
class CopiedKernel final : public EntropySource {
 public:
  void fill_from_kernel(std::span<std::uint64_t> out) noexcept override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  }
  bool draw_from_processor(Mask& mask) noexcept override {
    return support::draw_from_processor(mask);
  }
};

TEST(Randomness, CopiesWhoseKernelsRepeatThemselvesDifferByTheMask) {
  CopiedKernel kernel;
  if (Mask mask{}; !kernel.draw_from_processor(mask)) GTEST_SKIP() << "no such instruction";
  SecureRandom random(kernel);
  static_cast<void>(draw(random));
  random.end_turn();
  std::set<Number> seen;
  std::set<std::uint64_t> words;
  for (int i = 0; i < 100; ++i) {
    SecureRandom copy = random;
    const Number number = draw(copy);
    seen.insert(number);
    words.insert(number.begin(), number.end());
  }
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(words.size(), 300U) << "a word of each number is not masked";
}

TEST(Randomness, AChildDrawsOtherNumbersThanItsParentInTheMiddleOfATurn) {
  CopiedKernel copied;
  for (EntropySource* source :
       {&support::entropy_of_this_machine(), static_cast<EntropySource*>(&copied)}) {
    if (Mask mask{}; source == &copied && !source->draw_from_processor(mask)) continue;
    SecureRandom random(*source);
    static_cast<void>(draw(random));
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t child = ::fork();
    const Number number = draw(random);
    if (child == 0) {
      ::_exit(::write(pipe[1], number.data(), sizeof number) == sizeof number ? 0 : 1);
    }
    Number of_child{};
    EXPECT_EQ(::read(pipe[0], of_child.data(), sizeof of_child),
              static_cast<ssize_t>(sizeof of_child));
    EXPECT_NE(of_child, number);
    ::waitpid(child, nullptr, 0);
    for (const int end : pipe) ::close(end);
  }
}

TEST(Randomness, JitterIsMaskedToo) {
  CopiedKernel kernel;
  if (Mask mask{}; !kernel.draw_from_processor(mask)) GTEST_SKIP() << "no such instruction";
  runtime::KernelRandomness one(kernel);
  runtime::KernelRandomness other(kernel);
  constexpr core::Duration most = std::chrono::hours(24);
  EXPECT_NE(one.between({}, most), other.between({}, most));
}

}  // namespace
}  // namespace redlock
