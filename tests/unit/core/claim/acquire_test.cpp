#include <gtest/gtest.h>

#include <set>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

TEST(Acquire, AsksAllNodesInOneStepAndIsGrantedByTheThirdOfFive) {
  Connected h(5);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 1 2 3 4");
  h.pass(5ms);
  EXPECT_EQ(h.answers({4, 2}, Reply::granted), "");
  EXPECT_EQ(h.answer(0, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.answer(1, Reply::granted), "");
}

TEST(Acquire, IsGrantedEarlyAlthoughTwoNodesAreSilent) {
  Connected h(5);
  h.acquire(1, 10s);
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.pass(1s), "disconnect 3; disconnect 4");
  EXPECT_EQ(h.up(3), "kill 104 -> 3");
}

TEST(Acquire, CountsTheDeadlineFromTheStartOfTheGrantingRound) {
  Connected h(3);
  h.pass(1s);
  h.acquire(1, 10s, 5s);
  h.pass(20ms);
  h.answers({0, 1}, Reply::taken, "x", 30ms);
  EXPECT_EQ(h.answer(2, Reply::granted), "release t1 -> 2");
  // The second attempt begins when two nodes can be free.
  EXPECT_EQ(h.pass(31ms), "set t2 -> 0 1 2");
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(1, Reply::granted), "acquired #1 until 10949ms");
  EXPECT_EQ(std::get<Acquired>(h.commands().back()).elapsed, 51ms);
}

TEST(Acquire, IsGrantedANanosecondBeforeTheDeadlineAndExpiredAtIt) {
  for (const Duration spare : {1ns, 0ns}) {
    Connected h(1);
    h.acquire(1, 100ms);
    h.oversleep(97ms - spare);
    EXPECT_EQ(h.answer(0, Reply::granted),
              spare > 0ns ? "acquired #1 until 97ms" : "release t1 -> 0; failed #1 expired");
  }
}

TEST(Acquire, UndecidedAtItsDeadlineIsExpiredWithoutWaitingForAnswers) {
  Connected h(3);
  h.acquire(1, 100ms);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.pass(97ms), "release t1 -> 0 1 2; failed #1 expired");
}

TEST(Acquire, NearTheEndOfTimeDoesNotWrap) {
  Connected h(1);
  h.oversleep(Instant::max() - h.now() - 1s);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.valid_until(), Instant::max());
}

TEST(Acquire, TellsWhoHoldsTheLockAndForHowLong) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(1, Reply::taken, "other", 700ms);
  EXPECT_EQ(h.answer(2, Reply::taken, "other", 400ms), "failed #1 held");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.leading_holder(), "other");
  EXPECT_EQ(round.free_in(), 700ms);
  EXPECT_EQ(round.vote(0).vote, Vote::pending);
  EXPECT_EQ(round.vote(2).remaining, 400ms);
}

TEST(Acquire, WaitsForAKeyThatIsThereForLongerThanADurationCanSay) {
  Connected h(1);
  h.acquire(1, 10s, 20s);
  h.answer(0, Reply::taken, "other", Duration::max());
  EXPECT_GT(h.until_deadline(), 0ms) << "not at once, again and again";
}

TEST(Acquire, NamesTheHolderAlthoughMostServersDoNotTellIt) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::taken);
  EXPECT_EQ(h.answer(2, Reply::taken, "other"), "release t1 -> 3 4; failed #1 held");
  EXPECT_EQ(h.decided_by()->leading_holder(), "other");
}

TEST(Acquire, IsUnavailableWhenTooFewAnswerAndSaysWhyNodeByNode) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(0, Reply::error, "READONLY");
  EXPECT_EQ(h.down(2, "reset"), "release t1 -> 1; failed #1 unavailable");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.vote(0).vote, Vote::error);
  EXPECT_EQ(round.vote(0).text, "READONLY");
  EXPECT_EQ(round.vote(2).vote, Vote::unreachable);
  EXPECT_EQ(round.vote(2).text, "reset");
}

TEST(Acquire, TreatsAMissedTimeLimitAsADenialAndDropsTheConnection) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.pass(1s),
            "release t1 -> 1; disconnect 1; release t1 -> 2; disconnect 2; "
            "release t1 -> 0; failed #1 unavailable");
  EXPECT_EQ(h.decided_by()->vote(1).vote, Vote::timeout);
  EXPECT_EQ(h.decided_by()->vote(1).text, "no answer within 1000 ms");
}

TEST(Waiting, UsesAFreshTokenForEveryAttempt) {
  Connected h(3);
  h.acquire(1, 10s, 1s);
  std::set<std::string> tokens;
  for (int attempt = 0; attempt < 10; ++attempt) {
    for (NodeIndex node = 0; node < 3; ++node) {
      while (h.open(node) > 0) h.answer(node, Reply::taken, "other", 5s);
    }
    const std::string sent = h.pass(50ms);
    EXPECT_TRUE(sent.starts_with("set t")) << sent;
    tokens.insert(sent);
  }
  EXPECT_EQ(tokens.size(), 10U);
}

TEST(Waiting, ForAHolderRetriesInBetweenWithGrowingPausesUpTo50Ms) {
  Connected h(3);
  h.acquire(1, 10s, 60s);
  std::vector<Duration> pauses;
  for (int attempt = 0; attempt < 12; ++attempt) {
    h.pass(1ms);
    h.answers({0, 1}, Reply::taken, "other", 20s);
    while (h.open(2) > 0) h.answer(2, Reply::taken, "other", 20s);
    while (h.open(0) > 0) h.answer(0, Reply::gone);
    while (h.open(1) > 0) h.answer(1, Reply::gone);
    pauses.push_back(h.until_deadline());
    h.pass(pauses.back());
  }
  EXPECT_EQ(pauses[0], 2ms);
  EXPECT_EQ(pauses[1], 4ms);
  EXPECT_EQ(pauses.back(), 50ms);
}

TEST(Waiting, ForTheExpiryOfAHolderComesAMillisecondLater) {
  Connected h(1);
  h.acquire(1, 10s, 60s);
  h.pass(30ms);
  h.answer(0, Reply::taken, "other", 7ms);
  EXPECT_EQ(h.until_deadline(), 8ms);
}

TEST(Waiting, AfterASplitIsOnTheScaleOfTheRoundTrip) {
  Connected h(2);
  h.acquire(1, 10s, 60s);
  h.pass(400us);
  h.answer(0, Reply::granted);
  h.answer(1, Reply::taken, "other", 10s);
  EXPECT_EQ(h.until_deadline(), 800us);
}

TEST(Waiting, EndsExactlyAtItsLimitWithTheLastReason) {
  Connected h(1);
  h.acquire(1, 10s, 200ms);
  std::string out = h.answer(0, Reply::taken, "other", 10s);
  while (h.now() < Instant(199ms)) {
    out = h.pass(std::min<Duration>(h.until_deadline(), Instant(199ms) - h.now()));
    while (h.open(0) > 0) h.answer(0, Reply::taken, "other", 10s);
  }
  EXPECT_EQ(h.pass(1ms - 1ns), "");
  EXPECT_EQ(h.pass(1ns), "failed #1 held");
  EXPECT_EQ(h.now(), Instant(200ms));
}

TEST(Waiting, ThroughAnOutagePausesForNoMoreThan250Ms) {
  Connected h(1);
  h.down(0);
  EXPECT_EQ(h.acquire(1, 10s, 60s), "");
  for (int i = 0; i < 200; ++i) {
    const Duration next = h.until_deadline();
    EXPECT_LE(next, 250ms);
    EXPECT_GT(next, 0ns);
    h.pass(next);
    if (h.commands().size() == 1 && std::holds_alternative<Connect>(h.commands()[0])) h.down(0);
  }
}

TEST(Waiting, ForEverHasNoLimit) {
  Connected h(1);
  h.acquire(1, 10s, Duration::max());
  h.oversleep(24h * 365);
  EXPECT_EQ(h.answer(0, Reply::taken, "other"), "release t1 -> 0");
  while (h.open(0) > 0) h.answer(0, Reply::gone);
  EXPECT_EQ(h.pass(50ms), "set t2 -> 0");
}

TEST(Cancel, BetweenAttemptsHasNothingLeftToRelease) {
  Connected h(1);
  h.acquire(1, 10s, 1s);
  h.answer(0, Reply::taken, "other");
  EXPECT_EQ(h.cancel(1), "failed #1 cancelled");
  EXPECT_EQ(h.pass(5s), "");
}

TEST(FirstContact, BeginsTheRoundAsSoonAsAQuorumIsUp) {
  Harness h(5);
  EXPECT_EQ(h.tick(), "connect 0; connect 1; connect 2; connect 3; connect 4");
  EXPECT_EQ(h.acquire(1, 10s), "");
  h.pass(3ms);
  EXPECT_EQ(h.up(0), "");
  EXPECT_EQ(h.up(1), "");
  EXPECT_EQ(h.up(2), "set t1 -> 0 1 2");
  EXPECT_EQ(h.up(3), "set t1 -> 3");
  EXPECT_EQ(h.answers({0, 1, 2}, Reply::granted), "acquired #1 until 9901ms");
  EXPECT_EQ(h.up(4), "set t1 -> 4") << "the key goes to late nodes after the grant too";
  h.answers({3, 4}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2 3 4");
}

TEST(FirstContact, IsLimitedByTheWait) {
  Harness h(3);
  h.tick();
  h.acquire(1, 10s, 50ms);
  EXPECT_EQ(h.pass(50ms), "failed #1 unavailable");
}

}  // namespace
}  // namespace redlock::core::test
