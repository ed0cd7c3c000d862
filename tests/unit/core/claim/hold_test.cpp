#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

constexpr Acquire::Renewal without_limits{UINT64_MAX, Duration::max()};

TEST(Renewal, BeginsWhenAThirdOfTheTtlHasPassedAndAgainAThirdAfterEachSuccess) {
  Connected h(3);
  h.hold(9s, without_limits);
  EXPECT_EQ(h.pass(3s), "extend t1 -> 0 1 2");
  h.pass(10ms);
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "extended until 11908ms");
  h.answer(2, Reply::extended);
  EXPECT_EQ(h.pass(2989ms), "");
  EXPECT_EQ(h.pass(1ms), "extend t1 -> 0 1 2");
}

TEST(Renewal, ThatFailsReleasesNothingAndIsTriedAgainUntilTheDeadline) {
  Connected h(3);
  h.hold(9s, without_limits);
  h.pass(3s);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answers({1, 2}, Reply::error, "LOADING"), "");
  int tries = 0;
  while (h.now() < Instant(8907ms)) {
    const std::string out =
        h.pass(std::min<Duration>(h.until_deadline(), Instant(8907ms) - h.now()));
    if (out != "extend t1 -> 0 1 2") continue;
    ++tries;
    EXPECT_EQ(h.answers({0, 1, 2}, Reply::error, "LOADING"), "");
  }
  EXPECT_GT(tries, 20);
  EXPECT_LT(tries, 200) << "no storm towards the end";
  EXPECT_TRUE(h.pass(1ms).ends_with("lost; release t1 -> 0 1 2"));
}

TEST(Renewal, ThatFailsWarnsOfEachDeadlineOnce) {
  Connected h(1);
  h.hold(9s, without_limits);
  int warnings = 0;
  const auto answer_for = [&](Duration time, Reply reply) {
    const Instant end = h.now() + time;
    while (h.now() < end) {
      const std::string out = h.pass(std::min<Duration>(h.until_deadline(), end - h.now()));
      if (out.find("at-risk") != std::string::npos) ++warnings;
      if (out.find("extend") != std::string::npos) h.answer(0, reply, "LOADING");
    }
  };
  answer_for(8s, Reply::error);
  EXPECT_EQ(warnings, 1);
  answer_for(500ms, Reply::extended);
  EXPECT_GT(h.valid_until(), Instant(16'500ms));
  EXPECT_EQ(warnings, 1);
  answer_for(8s, Reply::error);
  EXPECT_EQ(warnings, 2);
}

TEST(Renewal, OfNoneAtAllIsAPlainLease) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{0, Duration::max()});
  EXPECT_EQ(h.pass(9s), "at-risk; lost; release t1 -> 0");
}

TEST(Renewal, NeverMakesALeaseValidPastTheLongestHold) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{UINT64_MAX, 20s});
  Instant lost{};
  while (lost == Instant{}) {
    const std::string out = h.pass(h.until_deadline());
    if (out.starts_with("extend")) h.answer(0, Reply::extended);
    if (out.starts_with("lost")) lost = h.now();
    if (lost == Instant{}) {
      EXPECT_LE(h.valid_until(), Instant(20s));
    }
  }
  EXPECT_LE(lost, Instant(20s));
  EXPECT_GE(lost, Instant(19'800ms));
}

TEST(Renewal, OfAHoldShorterThanTheTtlAsksForNoLongerATtl) {
  Connected h(1);
  h.acquire_renewed(1, 9s, {UINT64_MAX, 1500ms});
  EXPECT_EQ(h.commands().size(), 1U);
  EXPECT_EQ(h.answer(0, Reply::granted), "acquired #1 until 1483ms");
}

TEST(Renewal, GoesOnAfterAnExtendByHandThatReachedFurther) {
  Connected h(1);
  h.hold(9s, without_limits);
  h.pass(1s);
  h.extend(2, 30s);
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 30698ms; extended #2 until 30698ms");
  // A third of the TTL after the instant at which a renewal would have given this deadline.
  EXPECT_EQ(h.until_deadline(), Instant(30'698ms) - 8908ms + 3s - h.now());
  EXPECT_EQ(h.pass(h.until_deadline()), "extend t1 -> 0");
}

TEST(Renewal, GoesOnAfterAnExtendByHandThatFailedWhileTheDeadlineWasFar) {
  Connected h(1);
  h.hold(9s, without_limits);
  h.extend(2, 30s);
  h.answer(0, Reply::extended);
  h.extend(3, 30s);
  EXPECT_EQ(h.answer(0, Reply::error, "LOADING"), "failed #3 unavailable");
  // Earlier, a renewal would gain nothing; 1 ns later it gains something.
  EXPECT_EQ(h.pass(Instant(29'698ms) - 8908ms + 3s - 1ns - h.now()), "");
  EXPECT_EQ(h.pass(1ns), "extend t1 -> 0");
}

TEST(Renewal, LimitsBindAnExtendByHandToo) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{UINT64_MAX, 20s});
  h.pass(2s);
  h.extend(2, 30s);
  // The extend is cut to the 18 s that are left of the hold.
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 19818ms; extended #2 until 19818ms");
}

TEST(Renewal, CountsAnExtendByHandAndRefusesOneTooMany) {
  Connected h(1);
  h.hold(9s, Acquire::Renewal{2, Duration::max()});
  h.extend(2, 9s);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.pass(3s), "extend t1 -> 0");
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.extend(3, 9s), "failed #3 limit_reached");
  EXPECT_EQ(h.pass(9s), "at-risk; lost; release t1 -> 0");
}

TEST(Renewal, EndsBeforeTheReleaseIsSent) {
  Connected h(3);
  h.hold(9s, without_limits);
  h.pass(3s);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::extended), "") << "late answers revive nothing";
  EXPECT_EQ(h.answers({0, 1}, Reply::released), "released #2");
  h.answer(2, Reply::released);
  EXPECT_EQ(h.pass(60s), "");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Extend, RaisesTheDeadlineOnceAQuorumThatHadTheKeyAnswered) {
  Connected h(5);
  h.hold(10s);
  h.pass(1s);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0 1 2 3 4");
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "");
  EXPECT_EQ(h.answer(2, Reply::extended), "extended until 10898ms; extended #2 until 10898ms");
}

TEST(Extend, NeverCountsANodeInTheRoundThatRepairedIt) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.answer(0, Reply::gone);
  h.answer(1, Reply::extended);
  EXPECT_EQ(h.down(2), "failed #2 unavailable; extend-or-set t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::repaired), "");
  h.pass(1s);
  h.extend(3, 10s);
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "extended until 10898ms; extended #3 until 10898ms")
      << "in the next round it counts";
}

TEST(Extend, RepairsNothingThatFewerNodesThanAQuorumStillHave) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #2 not_holder")
      << "somebody may have broken the lock";
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.pass(10s), "lost") << "nothing is left";
}

TEST(Extend, NeverLowersTheDeadline) {
  Connected h(1);
  h.hold(10s);
  h.extend(2, 1s);
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 9898ms; extended #2 until 9898ms");
}

TEST(Extend, ThatFailsTakesNothingAway) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.down(0);
  EXPECT_EQ(h.down(1), "failed #2 unavailable");
  EXPECT_EQ(h.valid_until(), Instant(9898ms));
}

TEST(Extend, AskedForWhileOneIsUnderWayWaitsAndSharesTheNextRound) {
  Connected h(1);
  h.hold(10s);
  EXPECT_EQ(h.extend(2, 10s), "extend t1 -> 0");
  EXPECT_EQ(h.extend(3, 11s), "");
  EXPECT_EQ(h.extend(4, 12s), "");
  EXPECT_EQ(h.answer(0, Reply::extended), "extended until 9898ms; extended #2 until 9898ms");
  EXPECT_EQ(h.until_deadline(), 0ns);
  EXPECT_EQ(h.tick(), "extend t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::extended),
            "extended until 11878ms; extended #3 until 11878ms; extended #4 until 11878ms");
}

TEST(Extend, IsCancelledByARelease) {
  Connected h(1);
  h.hold(10s);
  h.extend(2, 10s);
  h.extend(3, 12s);
  EXPECT_EQ(h.release(4), "failed #2 cancelled; failed #3 cancelled; release t1 -> 0");
  EXPECT_EQ(Harness::round_of(h.commands().front()), nullptr) << "its round is the release's now";
}

TEST(Extend, ThatIsAnsweredAfterTheDeadlineDoesNotReviveTheLease) {
  Connected h(1);
  h.hold(10s);
  h.pass(9800ms);
  h.extend(2, 10s);
  h.oversleep(98ms);
  EXPECT_EQ(h.answer(0, Reply::extended), "failed #2 not_holder; lost; release t1 -> 0");
  EXPECT_EQ(h.extend(3, 10s), "failed #3 not_holder");
}

TEST(Extend, OfWhatIsNoLeaseAnyMoreIsRefused) {
  Connected h(1);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.extend(3, 10s), "failed #3 not_holder");
  EXPECT_EQ(h.release(4), "failed #4 not_holder");
  h.answer(0, Reply::released);
  h.tick();
  EXPECT_EQ(h.extend(5, 10s), "failed #5 not_holder");
}

TEST(Loss, ComesExactlyOnceAtTheDeadlineByTimeAlone) {
  Connected h(3);
  h.hold(10s);
  EXPECT_EQ(h.pass(9898ms - 1ns), "");
  EXPECT_EQ(h.pass(1ns), "lost; release t1 -> 0 1 2");
  EXPECT_EQ(h.pass(110ms),
            "disconnect 0; disconnect 1; disconnect 2; connect 0; connect 1; connect 2");
}

TEST(Loss, IsNotReportedToACallerThatReleasesAfterTheDeadline) {
  Connected h(1);
  h.hold(10s);
  h.oversleep(20s);
  EXPECT_EQ(h.release(2), "release t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::gone), "failed #2 not_holder");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Loss, IsNotReportedToACallerThatHandsTheLeaseOnAfterTheDeadline) {
  Connected h(1);
  h.hold(10s);
  h.oversleep(20s);
  EXPECT_EQ(h.step(Detach{h.lease}), "");
  EXPECT_EQ(h.settled(), "yes");
}

/// How long a call without a wait may block: as Client says.
TEST(Calls, EndWithinTheLongestLimitThoughAllNodesAreSilent) {
  const std::function<void(Harness&)> calls[] = {
      [](Harness& h) { h.extend(2, 10s); },
      [](Harness& h) { h.release(2); },
      [](Harness& h) {
        Inspect inspect;
        inspect.request = CallId{2};
        inspect.resource = "resource";
        h.step(inspect);
      },
  };
  for (const auto& call : calls) {
    Settings settings = Harness::settings_for(3);
    settings.shortest_limit = settings.longest_limit = 1s;
    Connected h(settings);
    h.acquire(1, 30s);
    h.answers({0, 1, 2}, Reply::granted);
    call(h);
    EXPECT_THAT(h.pass(999ms), testing::Not(testing::HasSubstr("#2")));
    EXPECT_THAT(h.pass(1ms), testing::AnyOf(testing::HasSubstr("failed #2 unavailable"),
                                            testing::HasSubstr("inspected #2")));
  }
}

}  // namespace
}  // namespace redlock::core::test
