// A released resource is reserved for the successor: the first in its queue, by ticket.

#include <gtest/gtest.h>

#include <string>

#include "unit/core/waiting/waiting.hpp"

namespace redlock::core::test {
namespace {

using namespace std::chrono_literals;

const std::string reservation = "redlock:next:another";

/// A client that waited for the resource, and gave up just now.
struct Contended : Queued {
  Contended() {
    cancel(1);
    answers({0, 1, 2}, Reply::done);
  }
};

TEST(Contention, IsOfOneResource) {
  Contended h;
  Acquire other;
  other.request = CallId{2};
  other.resource = "other";
  other.ttl = other.wait = 10s;
  EXPECT_EQ(h.step(other), "set t3 -> 0 1 2");
}

TEST(Contention, IsShownByAStandbysNotification) {
  Queued h;
  h.pass(2s);
  h.notified(0, "resource", 1);
  h.cancel(1);
  h.answers({0, 1, 2}, Reply::done);
  h.pass(999ms);
  EXPECT_EQ(h.acquire(2, 10s, 60s), "take t3 ticket 0 -> 0 1 2");
}

TEST(Tickets, AreMadeLevelByARequestThatLearnsOfAnIntervalToo) {
  Contended h;
  h.acquire(2, 10s, 60s);
  h.refused({0}, holder, 10s, {7});
  EXPECT_EQ(h.refused({1}, "redlock:cooldown", 10s, {7}),
            "release t3 again 7 -> 2; queue resource ticket 7 -> 2");
}

TEST(Tickets, ThatANodeDoesNotRaiseAreNotSentAgain) {
  Refused h;
  h.subscribed({0, 1, 2});
  h.queued({0, 1}, {9});
  EXPECT_EQ(h.queued({2}, {7}), "queue resource ticket 9 -> 2");
  EXPECT_EQ(h.queued({2}, {7}), "");
}

TEST(Tickets, OfRefusalsAreMadeLevel) {
  Contended h;
  h.acquire(2, 10s, 60s);
  h.refused({0}, holder, 10s, {11});
  EXPECT_EQ(h.refused({1}, holder, 10s, {14}), "queue resource ticket 14 -> 0");
  h.queued({0}, {14});
  EXPECT_EQ(h.refused({2}, holder, 10s, {12}), "queue resource ticket 14 -> 2")
      << "also of one that comes behind the decision";
  h.queued({2}, {14});
  EXPECT_EQ(h.pass(2400ms), "take t4 ticket 14 -> 0 1 2");
  EXPECT_EQ(h.refused({0, 1}, holder, 10s, {14}), "");
}

TEST(LostAttempts, ThatOutlastTheWaitDoNotQueueAgain) {
  Contended h;
  h.acquire(2, 10s, 50ms);
  EXPECT_EQ(h.pass(50ms), "release t3 -> 0 1 2; failed #2 unavailable; leave resource -> 0 1 2");
}

TEST(LostAttempts, ThatAreReleasedAgainDoNotQueueAgain) {
  Queued h;
  h.pass(2400ms);
  h.refused({0, 1}, holder, 10s, {7});
  EXPECT_EQ(h.placed({2}, Reply::granted, {}, {}, {}), "release t3 again 7 quietly -> 2");
  h.answer(2, Reply::error, "OOM");
  EXPECT_EQ(h.pass(1s).find("release t3 -> 2"), 0U);
}

TEST(Reservations, ArePolledByWhoIsFirstAsItLearnsBehindTheRound) {
  Queued h;
  h.pass(2400ms);
  h.refused({0, 1}, reservation, 20ms, {7});
  EXPECT_EQ(h.refused({2}, reservation, 20ms, {7, true}), "");
  EXPECT_EQ(h.pass(20ms), "");
  EXPECT_EQ(h.pass(1ms), "take t4 ticket 7 -> 0 1 2");
}

TEST(Reservations, AreNotPolledByWhoIsFirstNoMore) {
  Queued h;
  h.pass(2400ms);
  h.refused({0, 1}, reservation, 20ms, {7, true});
  h.pass(21ms);
  h.refused({2}, reservation, 20ms, {7});  // from the round before
  h.refused({0, 1, 2}, reservation, 20ms, {7});
  EXPECT_EQ(h.pass(1s), "");
}

TEST(Reservations, ThatItsOwnAttemptCausedOnTooFewNodesNeedNoStandby) {
  Queued h;
  h.pass(2400ms);
  h.notified(1, "resource", 1);
  h.refused({0, 2}, holder, 10s, {7});
  h.refused({1}, reservation, 20ms, {7});
  h.notified(1, "resource", 1);
  EXPECT_EQ(h.pass(1s), "") << "a quorum names the holder, which passes the lock on";
  h.notified(1, "resource", 1);
  EXPECT_EQ(h.pass(h.engine().reserved_for() + 1ms), "take t4 ticket 7 -> 0 1 2")
      << "another client caused this one";
}

TEST(Reservations, MakeTheNextCallerOfAClientTheStandbyWhenItsStandbyIsGranted) {
  Queued h;
  h.pass(30ms);
  h.notified(1, "resource", 1);
  h.notified(0, "resource");
  h.notified(1, "resource");
  h.answers({0, 1, 2}, Reply::granted);
  EXPECT_EQ(h.acquire(2, 10s, 60s), "take t4 ticket 0 -> 0 1 2");
  h.refused({0, 1, 2}, holder, 10s, {9});
  EXPECT_EQ(h.pass(h.engine().reserved_for()), "") << "to the nodes it is in the queue";
  EXPECT_EQ(h.pass(1ms), "take t5 ticket 9 -> 0 1 2");
}

TEST(Reservations, MakeAnotherCallerOfAClientTheStandbyWhenItsStandbyGivesUp) {
  Queued h;
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  h.pass(30ms);
  h.notified(1, "resource", 1);
  h.cancel(1);
  EXPECT_EQ(h.pass(h.engine().reserved_for()), "");
  EXPECT_NE(h.pass(1ms).find("take t"), std::string::npos);
}

TEST(Reservations, ThatOneNodeTellsOfDuringAnAttemptAreAskedForSoonAfterIt) {
  Queued h;
  h.pass(2400ms);
  h.notified(1, "resource");
  h.refused({0, 2}, holder, 10s, {7});
  h.answer(1, Reply::gone);
  EXPECT_NE(h.pass(2ms).find("take t4"), std::string::npos);
}

/// The length of the reservation after one round trip of `round_trip`.
Duration reserved_for(Duration round_trip) {
  Connected h(3);
  h.acquire(1, 10s, 60s);
  h.pass(round_trip);
  h.answer(0, Reply::taken, holder, 10s);
  h.answer(1, Reply::taken, holder, 10s);
  return h.engine().reserved_for();
}

TEST(Reservations, LastForEightRoundTripsAndForThreeOfLongOnes) {
  EXPECT_EQ(reserved_for(0ms), 20ms);
  EXPECT_EQ(reserved_for(2500us), 20ms);
  EXPECT_EQ(reserved_for(2501us), 40ms) << "doubled until it covers them";
  EXPECT_EQ(reserved_for(10ms), 80ms);
  EXPECT_EQ(reserved_for(11ms), 160ms);
  EXPECT_EQ(reserved_for(40ms), 160ms);
  EXPECT_EQ(reserved_for(200ms), 640ms);
}

TEST(Reservations, AreNoLongerBecauseOfANodeThatIsFarAway) {
  // One of three nodes is 20 ms away. Clients that hung once kept the others waiting for 766 ms.
  Connected h(3);
  for (std::uint64_t attempt = 1; attempt <= 3; ++attempt) {
    h.acquire(attempt, 10s);
    h.pass(1ms);
    h.answers({0, 1}, Reply::taken, holder, 10s);
    h.pass(90ms);
    h.answer(2, Reply::taken, holder, 10s);
  }
  EXPECT_EQ(h.engine().link(2).in_flight->recent_round_trip(), 91ms);
  EXPECT_EQ(h.engine().reserved_for(), 20ms);
}

TEST(Reservations, AreShortAgainSoonAfterABurst) {
  Connected h(1);
  const auto attempt = [&h](Duration round_trip) {
    h.acquire(1, 10s);
    h.pass(round_trip);
    h.answer(0, Reply::granted);
    h.release(2);
    h.pass(round_trip);
    h.answer(0, Reply::released);
  };
  attempt(90ms);
  EXPECT_EQ(h.engine().reserved_for(), 320ms);
  for (int i = 0; i < 4; ++i) attempt(1ms);
  EXPECT_EQ(h.engine().reserved_for(), 20ms);
}

TEST(Reservations, LastNoLongerThanALeaseMay) {
  Settings settings = Harness::settings_for(3);
  settings.max_ttl = 50ms;
  Connected h(settings);
  h.acquire(1, 50ms, 60s);
  h.pass(20ms);
  h.answers({0, 1}, Reply::taken, holder, 10s);
  EXPECT_EQ(h.engine().reserved_for(), 80ms) << "in steps";
}

TEST(Reservations, ForWhatIsOverAreGivenBack) {
  Contended h;
  EXPECT_EQ(h.notified(0, "resource"), "") << "leave was sent already";
  EXPECT_EQ(h.notified(0, "resource"), "leave resource -> 0");
  EXPECT_EQ(h.notified(1, "resource", 1), "") << "to a watcher nothing is reserved";
}

TEST(Reservations, AreGivenBackWhateverAWaitBeforeHasLeft) {
  Contended h;
  Acquire owner = reading(2);
  owner.group = "owner 1";
  h.step(owner);
  h.answers({0, 1}, Reply::taken, "shared", 10s);
  h.answer(2, Reply::taken, "shared", 10s);
  h.queued({0, 1, 2}, {8});
  h.notified(0, "resource");
  h.notified(1, "resource");
  EXPECT_EQ(h.answers({0, 1}, Reply::granted),
            "acquired #2 until 9898ms; leave resource and let others in -> 2")
      << "the others took it out as they notified it";
  // The node may have notified the client before a request that queues it arrived.
  EXPECT_EQ(h.notified(0, "resource"), "leave resource -> 0");
}

TEST(Reservations, OfAnotherConnectionAreGivenBack) {
  Queued h;
  h.cancel(1);
  h.down(2);
  h.up(2);
  EXPECT_EQ(h.notified(2, "resource"), "leave resource -> 2") << "leave was not sent to this node";
}

/// Two nodes granted the lock; the third has not answered.
struct GrantedByTwo : Contended {
  GrantedByTwo() {
    acquire(2, 10s, 60s);
    granted = placed({0, 1}, Reply::granted, {}, {}, {});
  }
  std::string granted;
};

TEST(Grants, LeaveTheQueueOfANodeThatFailsLater) {
  GrantedByTwo h;
  EXPECT_EQ(h.answer(2, Reply::error, "OOM"), "leave resource -> 2");
}

TEST(Grants, AreNotQueuedAgainForAnotherOfTheClientThatStopsWaiting) {
  Queued h;
  h.pass(1s);
  h.acquire(2, 10s, 60s);
  h.refuse(holder);
  EXPECT_EQ(h.pass(1400ms), "take t4 ticket 7 -> 0 1 2");
  h.placed({0}, Reply::granted, {}, {}, {});
  EXPECT_EQ(h.cancel(2), "failed #2 cancelled") << "node 0 would reserve the next release for us";
  EXPECT_EQ(h.placed({1}, Reply::granted, {}, {}, {}), "acquired #1 until 12298ms");
}

}  // namespace
}  // namespace redlock::core::test
