// The time limits of calls that wait for another call of their process.

#include "api/client/local_waits.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "api/client/completions.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::api {
namespace {

using namespace std::chrono_literals;
constexpr core::Instant start{};

struct LocalWaitsTest : testing::Test {
  LocalWaits::Id add(core::Instant until, char name) {
    return waits.add(until, [this, name](LocalWaits::End end) {
      text += name;
      text += end == LocalWaits::End::closed ? '!' : ' ';
    });
  }
  [[nodiscard]] std::string ended(core::Instant by, LocalWaits::End end) {
    waits.end(by, end, completions);
    EXPECT_EQ(text, "") << "nobody is told at once";
    completions.run(false, true, [] {});
    return std::exchange(text, "");
  }

  std::string text;
  Completions completions;
  LocalWaits waits;
};

TEST_F(LocalWaitsTest, EndInTheOrderOfTheirTimes) {
  add(start + 3s, 'c');
  add(start + 1s, 'a');
  add(start + 1s, 'b');
  EXPECT_EQ(waits.next(), start + 1s);
  EXPECT_EQ(ended(start + 2s, LocalWaits::End::time), "a b ");
  EXPECT_EQ(waits.next(), start + 3s);
  EXPECT_EQ(ended(start + 2s, LocalWaits::End::time), "");
}

TEST_F(LocalWaitsTest, ThatAreRemovedAreNotTold) {
  const auto removed = add(start + 1s, 'a');
  add(core::Instant::max(), 'b');
  waits.remove(removed);
  EXPECT_EQ(waits.next(), std::nullopt) << "a call without a time limit is never due";
  EXPECT_EQ(ended(core::Instant::max(), LocalWaits::End::closed), "b!");
}

}  // namespace
}  // namespace redlock::api
