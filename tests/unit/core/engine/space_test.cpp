// Callers that wait while the nodes have not answered others.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

Settings small() {
  Settings settings = Harness::settings_for(3);
  settings.max_unanswered = 2;
  return settings;
}

/// Connections that take two requests, and one attempt under way.
struct Full : Connected {
  Full() : Connected(small()) { acquire(1, 10s, 60s); }
};

TEST(Space, IsGivenInTheOrderInWhichCallersCame) {
  Full h;
  h.acquire(2, 10s, 60s);
  h.acquire(3, 10s, 60s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(1, Reply::granted), "acquired #1 until 9898ms; set t2 -> 0 1 2");
  h.answer(2, Reply::granted);
  // Node 2's answer to the second attempt is late; the other answers make room for the third.
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(1, Reply::granted), "acquired #2 until 9898ms; set t3 -> 0 1 2");
}

TEST(Space, IsWaitedForUntilTheCallerGivesUp) {
  Full h;
  h.acquire(2, 10s, 50ms);
  EXPECT_NE(h.pass(50ms).find("failed #2 unavailable"), std::string::npos);
}

TEST(Space, IsThereAgainWhenSilentNodesAreDropped) {
  Full h;
  h.acquire(2, 10s, 60s);
  h.down(0);
  h.down(1);
  h.up(0);
  h.up(1);
  h.answers({0, 1}, Reply::done);  // the old connections are dead
  const std::string out = h.answers({0, 1}, Reply::gone);
  EXPECT_NE(out.find("set t"), std::string::npos) << out;
}

}  // namespace
}  // namespace redlock::core::test
