#include <gtest/gtest.h>

#include "unit/core/harness.hpp"

namespace redlock::core::test {
namespace {

TEST(Reconnect, BacksOffFrom10MsToASecondWithJitter) {
  Harness h(1);
  h.tick();
  std::vector<Duration> pauses;
  for (int i = 0; i < 10; ++i) {
    h.down(0, "refused");
    pauses.push_back(h.until_deadline());
    EXPECT_EQ(h.pass(pauses.back()), "connect 0");
  }
  EXPECT_EQ(pauses[0], 10ms);
  EXPECT_EQ(pauses[1], 20ms);
  EXPECT_EQ(pauses[6], 640ms);
  EXPECT_EQ(pauses[7], 1s);
  EXPECT_EQ(pauses[9], 1s);
  h.random.shortest = true;
  h.down(0, "refused");
  EXPECT_EQ(h.until_deadline(), 500ms);
}

TEST(Reconnect, ComesLaterAfterEachConnectionThatEndedAndSoonerAfterEachSecondOfUse) {
  Connected h(1);
  const auto lasts = [&h](Duration time) {
    h.pass(h.until_deadline());
    h.up(0);
    h.acquire(1, 10s);
    h.answer(0, Reply::taken);
    h.pass(time);
    h.down(0);
    return h.until_deadline();
  };
  h.down(0);
  EXPECT_EQ(h.until_deadline(), 10ms);
  EXPECT_EQ(lasts(0s), 20ms);
  EXPECT_EQ(lasts(999ms), 40ms);
  EXPECT_EQ(lasts(1s), 40ms);
  EXPECT_EQ(lasts(2s), 20ms);
  EXPECT_EQ(lasts(1min), 10ms);
}

TEST(Reconnect, TakesAConnectionOnWhichNothingWasAnsweredForOneThatWasOfNoUse) {
  Connected h(1);
  h.down(0);
  h.pass(10ms);
  h.up(0);
  h.pass(1min);
  h.down(0);
  EXPECT_EQ(h.until_deadline(), 20ms) << "accepting connections proves nothing";
}

TEST(Link, IsIdleWhileNothingButUpkeepIsUnanswered) {
  Connected h(1);
  const Link& link = h.engine().link(0);
  EXPECT_TRUE(link.idle());
  h.acquire(1, 10s);
  EXPECT_FALSE(link.idle()) << "the vote is missed";
  h.answer(0, Reply::taken);
  EXPECT_TRUE(link.idle()) << "a lease that is held asks nothing";
  h.down(0);
  EXPECT_FALSE(link.idle()) << "it cannot be reached";
}

TEST(Reconnect, ToANodeThatRefusesEveryWriteIsNoTightLoop) {
  Connected h(1);
  int connections = 0;
  for (const Instant end = later(h.now(), 1min); h.now() < end; ++connections) {
    h.acquire(1, 10s);
    h.answer(0, Reply::error, "READONLY You can't write against a read only replica.");
    h.pass(h.until_deadline());
    h.up(0);
    while (h.open(0) > 0) h.answer(0, Reply::done);
  }
  EXPECT_LE(connections, 70);
}

/// A node that was a master when the lock was taken, and is a replica now.
struct Replica : Connected {
  Replica() : Connected(3) {
    hold(10s);
    down(2);
    as_replica();
  }
  std::string as_replica() {
    NodeUp event;
    event.ineligible = "it is a replica";
    event.replica = true;
    return up_as(2, event);
  }
};

TEST(Replicas, GetWhatIsOwedWhenTheirRoleHasChanged) {
  Replica h;
  h.release(2);
  h.answers({0, 1}, Reply::released);
  EXPECT_EQ(h.pass(5s), "disconnect 2; connect 2");
  EXPECT_EQ(h.as_replica(), "excluded 2");
  EXPECT_EQ(h.pass(1s), "");
  h.down(2);
  EXPECT_EQ(h.up(2), "release t1 -> 2");
}

TEST(Replicas, AreOwedNothingOfAConnectionThatIsDeadAndHasExpired) {
  Connected h(3);
  h.acquire(1, 10s);
  h.answers({0, 1}, Reply::granted);
  h.release(2);
  h.answers({0, 1}, Reply::released);
  h.down(2);
  NodeUp event;
  event.ineligible = "it is a replica";
  event.replica = true;
  EXPECT_EQ(h.up_as(2, event), "excluded 2; kill 103 -> 2");
  h.answer(2, Reply::done);
  h.oversleep(31s);
  h.tick();
  EXPECT_EQ(h.settled(), "yes");
}

TEST(Reconnect, HasTwiceTheTimeAfterEachConnectionThatTookTooLong) {
  Harness h(1);
  h.tick();
  for (const Duration limit : {1s, 2s, 4s, 8s, 8s, 8s}) {
    EXPECT_EQ(h.pass(limit - 1ns), "");
    EXPECT_EQ(h.pass(1ns), "disconnect 0");
    h.pass(h.until_deadline());
  }
  h.up(0);
  h.down(0);
  h.pass(h.until_deadline());
  EXPECT_EQ(h.pass(1s), "disconnect 0") << "one that was made ends the doubling";
}

TEST(Reconnect, MayBeGivenAnotherTimeLimitThanAnswers) {
  Settings settings = Harness::settings_for(1);
  settings.connect_timeout = 3s;
  Harness h(settings);
  h.tick();
  EXPECT_EQ(h.pass(3s - 1ns), "");
  EXPECT_EQ(h.pass(1ns), "disconnect 0");
  EXPECT_EQ(h.engine().link(0).contact->failure().why,
            "no connection within 3 s (connect timeout)");
  h.pass(h.until_deadline());
  EXPECT_EQ(h.pass(6s), "disconnect 0");
}

TEST(TimeLimit, FollowsTheRoundTripBetweenItsBounds) {
  Connected h(1);
  EXPECT_EQ(h.engine().link(0).in_flight->limit(), 1s) << "nothing is known yet";
  h.acquire(1, 10s);
  h.pass(100ms);
  h.answer(0, Reply::taken);
  EXPECT_EQ(h.engine().link(0).in_flight->limit(), 1s);
  for (int i = 0; i < 100; ++i) {
    h.acquire(1, 10s);
    h.pass(1ms);
    h.answer(0, Reply::taken);
  }
  EXPECT_EQ(h.engine().link(0).in_flight->limit(), 100ms);
}

TEST(TimeLimit, RunsFromTheOldestRequest) {
  Connected h(2);
  for (int i = 0; i < 100; ++i) {
    h.acquire(1, 10s);
    h.answers({0, 1}, Reply::taken);
  }
  h.acquire(1, 10s);
  h.pass(60ms);
  h.acquire(2, 10s);
  EXPECT_EQ(h.pass(39ms), "");
  EXPECT_TRUE(h.pass(1ms).starts_with("release t101 -> 0; release t102 -> 0; disconnect 0"));
}

TEST(TimeLimit, IsTheLongestAgainAfterItWasMissedSoThatASlowerPathIsLearnt) {
  Connected h(1);
  for (int i = 0; i < 100; ++i) {
    h.acquire(1, 10s);
    h.pass(1ms);
    h.answer(0, Reply::taken);
  }
  h.acquire(2, 10s);
  EXPECT_EQ(h.pass(100ms), "release t101 -> 0; disconnect 0");
  h.pass(10ms);
  EXPECT_EQ(h.up(0), "kill 101 -> 0; release t101 -> 0; set t102 -> 0");
  h.pass(300ms);
  h.answer(0, Reply::done);
  h.answer(0, Reply::released);
  EXPECT_EQ(h.answer(0, Reply::granted), "acquired #2 until 10108ms");
}

/// Connections that answered once, and that a device in between has forgotten since.
struct Idle : Connected {
  Idle() : Connected(3) {
    acquire(1, 10s);
    answers({0, 1, 2}, Reply::taken);
    answer(2, Reply::gone);  // to the release that the call did not wait for
    pass(1min);
  }
};

TEST(IdleConnections, AreWaitedForOnce) {
  Idle h;
  for (const NodeIndex node : {NodeIndex{0}, NodeIndex{1}, NodeIndex{2}}) h.down(node, "reset");
  h.acquire(2, 10s);
  h.pass(10ms);
  EXPECT_EQ(h.down(0, "refused"), "");
  EXPECT_EQ(h.down(1, "refused"), "failed #2 unavailable");
  EXPECT_EQ(h.acquire(3, 10s), "failed #3 unavailable") << "two are known to be down";
}

TEST(Congestion, OfAMajorityIsUnavailable) {
  Settings settings = Harness::settings_for(1);
  settings.max_unanswered = 1;
  Connected h(settings);
  h.acquire(1, 10s);
  EXPECT_EQ(h.acquire(2, 10s), "failed #2 unavailable");
}

TEST(Congestion, IsWhatAReleaseThatFindsNoRoomSays) {
  Settings settings = Harness::settings_for(1);
  settings.max_unanswered = 1;
  settings.clock_guard = true;
  Harness h(settings);
  h.tick();
  h.up(0);
  h.clock(0, 1000s);
  h.hold(10s);
  h.step(Inspect{CallId{2}, "other", {}});
  EXPECT_EQ(h.release(3), "failed #3 unavailable");
  EXPECT_EQ(h.decided_by()->vote(0).vote, Vote::timeout);
  EXPECT_EQ(h.decided_by()->vote(0).text, "too many requests unanswered");
}

TEST(Operations, MayBeExactlyAsManyAsTheLimit) {
  Settings settings = Harness::settings_for(1);
  settings.max_operations = 3;
  Connected h(settings);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0");
  EXPECT_EQ(h.acquire(2, 10s), "set t2 -> 0");
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.acquire(3, 10s), "set t3 -> 0") << "an attempt is not counted beside its acquire";
  EXPECT_EQ(h.acquire(4, 10s), "failed #4 limit_reached");
  h.answers({0, 0}, Reply::granted);
  EXPECT_EQ(h.acquire(5, 10s), "failed #5 limit_reached");
  EXPECT_EQ(h.release(6), "release t3 -> 0");
  EXPECT_EQ(h.acquire(7, 10s), "set t4 -> 0") << "what is being cleaned up is no lease any more";
}

TEST(Duplicates, HaveOneVote) {
  Harness h(3);
  h.tick();
  h.up(0, "same");
  EXPECT_EQ(h.up(1, "same"), "excluded 1");
  h.up(2);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 2");
  EXPECT_EQ(h.answer(0, Reply::granted), "");
  EXPECT_EQ(h.answer(2, Reply::granted), "acquired #1 until 9898ms");
  EXPECT_EQ(h.engine().claim(h.lease)->round->vote(1).vote, Vote::excluded);
  EXPECT_EQ(h.engine().claim(h.lease)->round->vote(1).text, "the same server as node0");
}

TEST(Duplicates, OfWhichThereAreThreeHaveOneVoteAfterTheFirstFailed) {
  Harness h(5);
  h.tick();
  h.up(0, "same");
  h.up(1, "same");
  h.up(2, "same");
  h.up(3);
  h.up(4);
  EXPECT_EQ(h.down(0), "excluded 2");
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 1 3 4");
  EXPECT_EQ(h.up(0, "same"), "excluded 0") << "the second keeps the vote";
}

TEST(Duplicates, FoundDuringARoundAreExcludedFromIt) {
  Harness h(3);
  h.tick();
  h.up(0, "same");
  h.up(2);
  EXPECT_EQ(h.acquire(1, 10s), "set t1 -> 0 2");
  EXPECT_EQ(h.up(1, "same"), "excluded 1");
  h.answer(0, Reply::granted);
  EXPECT_EQ(h.answer(2, Reply::granted), "acquired #1 until 9898ms");
}

TEST(Answers, OfAnOldAttemptDoNotCountForANewOne) {
  Connected h(3);
  h.acquire(1, 10s, 10s);
  h.answers({0, 1}, Reply::taken, "other", 1ms);
  const std::string again = h.pass(3ms);
  ASSERT_EQ(again, "set t2 -> 0 1 2");
  EXPECT_EQ(h.answer(2, Reply::granted), "release t1 -> 2") << "the grant of the first attempt";
  EXPECT_EQ(h.answer(0, Reply::granted), "");
  EXPECT_EQ(h.answer(2, Reply::granted).substr(0, 11), "acquired #1");
}

TEST(AnswersDeathTest, ToARequestThatWasNotAskedBreakTheContract) {
  EXPECT_DEATH(
      {
        Connected h(1);
        h.acquire(1, 10s);
        Stamp stamp;
        stamp.verb = Verb::release;
        h.step(Answer{0, stamp, Reply::released, {}, {}});
      },
      "oldest.stamp == stamp");
}

TEST(AnswersDeathTest, TwiceToOneRequestBreakTheContract) {
  EXPECT_DEATH(
      {
        Connected h(3);
        h.acquire(1, 10s);
        const Stamp stamp = request_in(h.commands().back())->stamp;
        h.answer(0, Reply::granted);
        h.step(Answer{0, stamp, Reply::granted, {}, {}});
      },
      "count_ > 0");
}

TEST(Shutdown, FailsEveryCallReleasesEveryLeaseAndIsDrainedByTheLastAnswer) {
  Connected h(3);
  h.hold(10s);
  h.acquire(2, 10s, 1s);
  h.answers({0, 1}, Reply::taken, "t1");
  h.acquire(3, 10s);
  EXPECT_EQ(h.step(Shutdown{1s}),
            "failed #2 closed; release t3 -> 0 1 2; failed #3 closed; release t1 -> 0 1 2; "
            "release t2 -> 2");
  EXPECT_EQ(h.acquire(4, 10s), "failed #4 closed");
  for (NodeIndex node = 0; node < 3; ++node) {
    std::string last;
    while (h.open(node) > 0) last = h.answer(node, Reply::gone);
    EXPECT_EQ(last, node == 2 ? "drained" : "");
  }
  EXPECT_EQ(h.step(Shutdown{1s}), "");
}

/// A lock cycle that was answered while node 2 hung; then node 2 went away.
struct Forgotten : Connected {
  Forgotten() : Connected(3) {
    acquire(1, 10s);
    answers({0, 1}, Reply::granted);
    release(2);
    answers({0, 1}, Reply::released);
    down(2);
  }
};

TEST(Shutdown, DeliversWhatMayBeLeftOnANodeThatWentAway) {
  Forgotten h;
  EXPECT_EQ(h.step(Shutdown{1s}), "");
  EXPECT_EQ(h.tick(), "connect 2") << "at once";
  EXPECT_EQ(h.up(2), "kill 103 -> 2; release t1 -> 2");
  EXPECT_EQ(h.answer(2, Reply::done), "");
  EXPECT_EQ(h.answer(2, Reply::released), "drained");
}

TEST(Shutdown, SaysWhatItCouldNotDeliver) {
  Forgotten h;
  h.step(Shutdown{1s});
  EXPECT_TRUE(h.pass(1s).ends_with("undelivered 1 for 10102 ms once written -> 2; drained"));
  EXPECT_EQ(h.down(2), "") << "nobody is connected to any more";
  EXPECT_EQ(h.pass(10s), "");
}

TEST(Shutdown, WaitsUntilReleasesThatFoundNoRoomAreSent) {
  Settings settings = Harness::settings_for(1);
  settings.max_unanswered = 1;
  Connected h(settings);
  for (std::uint64_t i = 1; i <= 2; ++i) {
    h.acquire(i, 10s);
    h.answer(0, Reply::granted);
  }
  EXPECT_EQ(h.step(Shutdown{1s}), "release t1 -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "");
  EXPECT_EQ(h.pass(100ms), "release t2 -> 0");
  EXPECT_EQ(h.answer(0, Reply::released), "drained");
}

TEST(Shutdown, WithoutAnythingOpenIsDrainedAtOnce) {
  Connected h(3);
  EXPECT_EQ(h.step(Shutdown{1s}), "drained");
  EXPECT_EQ(h.extend(1, 1s), "failed #1 closed");
  EXPECT_EQ(h.step(ReleaseToken{CallId{2}, "r", *Token::parse("a")}), "failed #2 closed");
  EXPECT_EQ(h.step(ExtendToken{CallId{3}, "r", *Token::parse("a"), 1s}), "failed #3 closed");
  EXPECT_EQ(h.step(Inspect{CallId{4}, "r"}), "failed #4 closed");
  EXPECT_EQ(h.release(5), "failed #5 closed");
}

}  // namespace
}  // namespace redlock::core::test
