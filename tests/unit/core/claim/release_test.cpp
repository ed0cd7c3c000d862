#include <gtest/gtest.h>

#include "core/votes/validity.hpp"
#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

TEST(Release, IsAnsweredAsSoonAsNoMajorityIsTakenAnyMore) {
  Connected h(5);
  h.acquire(1, 10s);
  h.answers({0, 1, 2}, Reply::granted);
  h.answers({3, 4}, Reply::taken, "other");
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.answer(1, Reply::released), "released #2");
}

TEST(Release, GoesBehindASetThatIsNotAnswered) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1 2");
  EXPECT_EQ(h.open(2), 2U);
}

TEST(Release, OfWhatHadExpiredIsNotTheHolders) {
  Connected h(3);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answers({0, 1}, Reply::gone), "");
  EXPECT_EQ(h.answer(2, Reply::taken), "failed #2 not_holder");
}

TEST(Release, ThatReachesTooFewIsUnavailableAndStaysOwed) {
  Connected h(3);
  h.hold(10s);
  h.down(0);
  h.down(1);
  EXPECT_EQ(h.release(2), "release t1 -> 2");
  EXPECT_EQ(h.answer(2, Reply::released), "failed #2 unavailable");
  h.pass(10ms);
  EXPECT_EQ(h.up(0), "release t1 -> 0");
  h.answer(0, Reply::released);
  h.up(1);
  h.answer(1, Reply::released);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, WhoseSetMayBeExecutedYetIsOwedPastTheExpiry) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  h.answers({0, 1}, Reply::released);
  h.pass(100s);
  EXPECT_EQ(h.engine().claims(), 1U);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; release t1 -> 2");
  h.answer(2, Reply::done);
  h.answer(2, Reply::gone);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Release, ToARestartedServerNeedsNoKill) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  EXPECT_EQ(h.up(2, "another run"), "release t1 -> 2");
}

TEST(Release, IsBehindTheKillOfEveryConnectionInDoubtUntilOneIsAnswered) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.down(2);
  h.release(2);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; release t1 -> 2");
  h.down(2);
  EXPECT_EQ(h.up(2), "kill 103 -> 2; kill 104 -> 2; release t1 -> 2");
  h.answers({2, 2}, Reply::done);
  h.down(2);
  EXPECT_EQ(h.up(2), "kill 105 -> 2; release t1 -> 2");
}

TEST(Release, ThatIsAnsweredWithAnErrorIsTriedAgainUntilTheExpiry) {
  Connected h(1);
  h.hold(10s);
  h.release(2);
  EXPECT_EQ(h.answer(0, Reply::error, "LOADING"), "failed #2 unavailable");
  int tries = 0;
  while (h.engine().claims() > 0 && tries < 10'000) {
    if (h.pass(10ms) == "release t1 -> 0") {
      ++tries;
      h.answer(0, Reply::error, "LOADING");
    }
    h.tick();
  }
  EXPECT_GE(tries, 90);
  EXPECT_LE(tries, 110);
}

/// For how long a release is sent again to the third node, which refuses it each time.
Duration until_given_up(Connected& h) {
  Duration tried{};
  while (h.engine().claims() > 0 && tried < 60s) {
    tried += 10ms;
    if (h.pass(10ms) == "release t1 -> 2") h.answer(2, Reply::error, "BUSY");
    h.tick();
  }
  return tried;
}

TEST(Release, IsOwedUntilWhatWasExtendedLateHasExpired) {
  Connected h(3);
  h.hold(10s);
  h.extend(2, 10s);
  h.answers({0, 1}, Reply::extended);
  h.release(3);
  h.answers({0, 1}, Reply::released);
  h.pass(90ms);
  h.answer(2, Reply::extended);  // the key's expiry may begin only now
  h.answer(2, Reply::error, "BUSY");
  const Duration tried = until_given_up(h);
  EXPECT_GE(tried, 10s + drift(10s));
  EXPECT_LE(tried, 10s + drift(10s) + 20ms);
}

TEST(Release, OfAHoldWaitsForNoNodeInFirstContact) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  Acquire event;
  event.request = CallId{1};
  event.resource = "resource";
  event.ttl = 10s;
  event.group = "shared";
  EXPECT_EQ(h.step(event), "enter t1 -> 0 1");
  h.answers({0, 1}, Reply::granted);
  EXPECT_EQ(h.release(2), "release t1 -> 0 1");
  h.answer(0, Reply::error, "LOADING");
  EXPECT_EQ(h.answer(1, Reply::released), "failed #2 unavailable");
}

TEST(ReleaseByToken, OfATokenWithoutAMajorityIsNotTheHolders) {
  Connected h(3);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answer(1, Reply::taken), "failed #1 not_holder");
}

TEST(ReleaseByToken, IsOwedToANodeWhoseFirstContactFails) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  EXPECT_EQ(h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")}), "release abc -> 0 1");
  EXPECT_EQ(h.answers({0, 1}, Reply::released), "released #1");
  h.down(2);
  h.pass(100ms);
  EXPECT_EQ(h.up(2), "release abc -> 2");
}

TEST(ReleaseByToken, OfALeaseThatWasHandedOnWithdrawsItsSetFromLateNodes) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  h.hold(10s);
  h.step(Detach{h.lease});
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "resource", *Token::parse("t1")}), "release t1 -> 0 1");
  EXPECT_EQ(h.up(2), "release t1 -> 2");
}

TEST(ReleaseByToken, DoesNotWaitForANodeThatTurnsOutToBeAReplica) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  h.step(ReleaseToken{CallId{1}, "r", *Token::parse("abc")});
  h.answer(0, Reply::released);
  EXPECT_EQ(h.answer(1, Reply::error, "OOM"), "");
  NodeUp replica{2, "server2", 3};
  replica.replica = true;
  EXPECT_EQ(h.step(replica), "failed #1 unavailable");
}

/// A release by an operator, with this delay.
ReleaseToken broken_for(Duration delay) {
  ReleaseToken event{CallId{1}, "r", *Token::parse("abc")};
  event.by_operator = true;
  event.delay = delay;
  return event;
}

TEST(BreakWithDelay, IsARequestOfItsOwnAndRemembered) {
  Connected h(3);
  EXPECT_EQ(h.step(broken_for(5s)), "break abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::script_missing), "break abc in full -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "write-audit abc -> 0");
  EXPECT_EQ(h.answer(1, Reply::released), "write-audit abc -> 1; released #1");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.answers({0, 1}, Reply::done), "");
  EXPECT_EQ(h.settled(), "yes");
}

TEST(BreakWithDelay, NeedsAQuorumThatKeepsEverybodyOut) {
  for (const Duration delay : {Duration(0), Duration(5s)}) {
    Connected h(5);
    h.step(broken_for(delay));
    h.answers({0, 1}, Reply::released);
    h.answers({2, 3}, Reply::gone);
    // Three of five nodes do not have the token: without a delay, that completes the call.
    EXPECT_EQ(h.answer(4, Reply::error, "OOM"),
              delay == Duration::zero() ? "released #1" : "failed #1 unavailable");
  }
}

TEST(BreakWithDelay, IsOwedToNodesThatAreDown) {
  Connected h(3);
  h.down(2);
  EXPECT_EQ(h.step(broken_for(5s)), "break abc -> 0 1");
  h.answers({0, 1}, Reply::released);
  EXPECT_EQ(h.up(2), "break abc -> 2");
}

TEST(ExtendByToken, GivesTheKeyBackOnlyAfterAQuorumHasShownToHaveIt) {
  Connected h(3);
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s}), "extend abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  h.answer(1, Reply::extended);
  EXPECT_EQ(h.answer(2, Reply::extended),
            "extended until 9898ms; extended #1 until 9898ms; extend-or-set abc -> 0");
  h.answer(0, Reply::repaired);
  EXPECT_EQ(h.settled(), "yes");
}

TEST(ExtendByToken, OfSeveralResourcesGivesBackAllOfThemOrNone) {
  Connected h(3);
  const std::vector<std::string> more{"s"};
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s, more}),
            "extend abc -> 0 1 2");
  h.answers({1, 2}, Reply::extended);
  h.step(ReleaseToken{CallId{2}, "s", *Token::parse("abc")});
  EXPECT_EQ(h.answer(0, Reply::gone), "") << "the release of one of them is a release of it";
}

TEST(ReleaseByToken, OfSeveralResourcesEndsAnExtendOfAnyOfThem) {
  Connected h(3);
  const std::vector<std::string> more{"s", "t"};
  h.step(ExtendToken{CallId{1}, "t", *Token::parse("abc"), 10s});
  h.answers({1, 2}, Reply::extended);
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "r", *Token::parse("abc"), false, {}, more}),
            "release abc -> 0 1 2");
  EXPECT_EQ(h.answer(0, Reply::gone), "");
  EXPECT_EQ(h.answers({1, 2}, Reply::released), "released #2");
}

TEST(ExtendByToken, ThatLostRepairsNothing) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s});
  h.answer(0, Reply::gone);
  EXPECT_EQ(h.answer(1, Reply::gone), "failed #1 not_holder");
  EXPECT_EQ(h.answer(2, Reply::extended), "");
}

TEST(ExtendByToken, ThatLostDoesNotGoToNodesInFirstContact) {
  Harness h(3);
  h.tick();
  h.up(0);
  h.up(1);
  EXPECT_EQ(h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 10s}), "extend abc -> 0 1");
  h.answers({0, 1}, Reply::gone);
  EXPECT_EQ(h.up(2), "");
}

TEST(ExtendByToken, ThatComesTooLateToBeWorthAnythingIsExpiredAndRepairsNothing) {
  Connected h(3);
  h.step(ExtendToken{CallId{1}, "r", *Token::parse("abc"), 20ms});
  h.oversleep(18ms);
  h.answer(0, Reply::extended);
  EXPECT_EQ(h.answer(1, Reply::extended), "failed #1 expired");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
}

Adopt adoption(std::string_view group = {}) {
  return {CallId{1}, "r", *Token::parse("abc"), 10s, {}, group, {}, 0};
}

TEST(Adoption, EndsOnAllNodesBecauseAnotherCallMayHaveRepairedThem) {
  Connected h(3);
  Adopt event = adoption();
  event.renewal.max_renewals = 1;
  event.renewal.max_hold = 60s;
  h.step(event);
  EXPECT_EQ(h.answers({0, 1}, Reply::extended), "acquired #1 until 9898ms");
  h.answer(2, Reply::extended);
  EXPECT_EQ(h.extend(2, 10s), "extend abc -> 0 1 2");
  EXPECT_EQ(h.answer(2, Reply::gone), "");
  EXPECT_EQ(h.release(3), "failed #2 cancelled; release abc -> 0 1 2");
}

TEST(Adoption, OfAHoldIsNoExclusiveLease) {
  Connected h(3);
  h.step(adoption());
  h.answer(0, Reply::extended, "", {}, Holds{2});
  EXPECT_EQ(h.answer(1, Reply::extended, "", {}, Holds{2}), "failed #1 not_holder")
      << "others hold it, too";
  h.answer(2, Reply::extended, "", {}, Holds{2});
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Inspect, IsAnsweredWhenEveryNodeAnsweredOrFailed) {
  Connected h(3);
  EXPECT_EQ(h.step(Inspect{CallId{1}, "r"}), "inspect  -> 0 1 2");
  h.answer(0, Reply::found, "abc", 3s);
  h.answer(1, Reply::gone);
  EXPECT_EQ(h.down(2), "inspected #1");
  const Round& round = *h.decided_by();
  EXPECT_EQ(round.vote(0).text, "abc");
  EXPECT_EQ(round.vote(0).remaining, 3s);
  EXPECT_EQ(round.vote(1).vote, Vote::granted);
  EXPECT_EQ(round.vote(2).vote, Vote::unreachable);
}

}  // namespace
}  // namespace redlock::core::test
