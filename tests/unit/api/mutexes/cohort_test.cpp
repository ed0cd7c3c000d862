// Which of a process's threads has a lock, and when its lease is passed on.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "api/mutexes/cohort.hpp"

namespace redlock::api::test {
namespace {

using core::Duration;
using core::Instant;
using core::OtherClients;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr Duration ttl = seconds(10);
constexpr Instant start{seconds(1000)};

[[nodiscard]] Cohort::LeaseState good(OtherClients others = OtherClients::unknown) {
  return {true, start + ttl, others};
}

/// Holds a lease that was granted at `start`.
class CohortLease : public testing::Test {
 protected:
  CohortLease() {
    EXPECT_TRUE(cohort_.enter());
    cohort_.granted(start, start + ttl);
  }
  /// Passes the lease on once more; false: it is to be released instead.
  [[nodiscard]] bool pass(const Cohort::LeaseState& lease, Instant now = start) {
    if (!cohort_.passes(lease, now)) return false;
    static_cast<void>(cohort_.leave(now));
    EXPECT_TRUE(cohort_.enter());
    return cohort_.takes(lease, now);
  }
  [[nodiscard]] int count_passes(const Cohort::LeaseState& lease) {
    int passes = 0;
    while (passes < 1000 && pass(lease)) ++passes;
    return passes;
  }

  Cohort cohort_{{ttl}};
  Cohort::Waiter waiter_;
};

TEST_F(CohortLease, IsPassedOnlyIfItIsGoodAndAThreadWaits) {
  const Instant now = start + seconds(3);
  EXPECT_FALSE(cohort_.passes(good(), now)) << "nobody waits";
  cohort_.queue(waiter_, now);
  struct Row {
    const char* what;
    Cohort::LeaseState lease;
    bool passes;
  };
  const std::array rows{
      Row{"as granted", {true, start + ttl, {}}, true},
      Row{"renewed", {true, now + ttl, {}}, true},
      Row{"lost, released or of a closed client", {false, now + ttl, {}}, false},
      Row{"half of the TTL is left", {true, now + ttl / 2, {}}, true},
      Row{"less is left", {true, now + ttl / 2 - nanoseconds(1), {}}, false},
      Row{"over, and not reported as lost yet", {true, now - nanoseconds(1), {}}, false},
      Row{"none", {}, false},
  };
  for (const Row& row : rows) {
    for (const OtherClients others :
         {OtherClients::unknown, OtherClients::none, OtherClients::waiting}) {
      Cohort::LeaseState lease = row.lease;
      lease.others = others;
      EXPECT_EQ(cohort_.passes(lease, now), row.passes) << row.what;
    }
  }
}

TEST_F(CohortLease, IsPassedSixteenTimesWhileOthersWaitOrMayWait) {
  cohort_.queue(waiter_, start);
  EXPECT_EQ(count_passes(good(OtherClients::unknown)), 16);
  EXPECT_EQ(count_passes(good(OtherClients::waiting)), 0) << "the same lease";
  cohort_.granted(start, start + ttl);
  EXPECT_EQ(count_passes(good(OtherClients::waiting)), 16) << "another lease";
}

TEST_F(CohortLease, IsPassedAnyNumberOfTimesWhileItIsKnownThatNobodyElseWaits) {
  cohort_.queue(waiter_, start);
  EXPECT_EQ(count_passes(good(OtherClients::none)), 1000);
  EXPECT_FALSE(cohort_.passes(good(OtherClients::waiting), start)) << "now somebody does";
  EXPECT_FALSE(cohort_.passes(good(OtherClients::unknown), start)) << "a node has failed";
}

TEST_F(CohortLease, IsPassedForOneTtlWhateverIsKnownOfOthers) {
  cohort_.queue(waiter_, start);
  for (const OtherClients others :
       {OtherClients::unknown, OtherClients::none, OtherClients::waiting}) {
    const Instant last = start + ttl - nanoseconds(1);
    EXPECT_TRUE(cohort_.passes({true, last + ttl, others}, last));
    EXPECT_FALSE(cohort_.passes({true, start + 2 * ttl, others}, start + ttl));
  }
}

TEST_F(CohortLease, IsAsOldAsItsRound) {
  cohort_.queue(waiter_, start);
  // The lease's round took two seconds.
  cohort_.granted(start + seconds(2), start + ttl);
  const Instant later = start + ttl;
  EXPECT_FALSE(cohort_.passes({true, later + ttl, OtherClients::waiting}, later));
}

TEST_F(CohortLease, ThatIsOverWhenTheNextThreadRunsIsNotTaken) {
  cohort_.queue(waiter_, start);
  ASSERT_TRUE(cohort_.passes(good(), start));
  static_cast<void>(cohort_.leave(start));
  ASSERT_TRUE(cohort_.enter());
  EXPECT_FALSE(cohort_.takes({false, start + ttl, {}}, start)) << "lost";
  EXPECT_FALSE(cohort_.takes(good(), start + ttl)) << "over";
  EXPECT_TRUE(cohort_.takes(good(OtherClients::waiting), start)) << "they came after the pass";
}

TEST_F(CohortLease, WithLimitsOfItsOwnIsNeverPassed) {
  Cohort limited({ttl, false});
  ASSERT_TRUE(limited.enter());
  limited.granted(start, start + ttl);
  limited.queue(waiter_, start);
  EXPECT_FALSE(limited.passes(good(OtherClients::none), start));
  EXPECT_FALSE(limited.asks(good()));
}

TEST_F(CohortLease, AsksForOthersOnceWhenAThreadWaits) {
  EXPECT_FALSE(cohort_.asks(good())) << "nobody waits";
  cohort_.queue(waiter_, start);
  EXPECT_FALSE(cohort_.asks(good(OtherClients::none))) << "known";
  EXPECT_TRUE(cohort_.asks(good()));
  EXPECT_FALSE(cohort_.asks(good()));
  cohort_.granted(start, start + ttl);
  EXPECT_TRUE(cohort_.asks(good())) << "another lease";
}

TEST_F(CohortLease, AsksForOthersAfterThePassThatEmptiedTheQueue) {
  cohort_.queue(waiter_, start);
  ASSERT_TRUE(cohort_.passes(good(), start));
  ASSERT_EQ(cohort_.leave(start), &waiter_);
  ASSERT_TRUE(cohort_.enter(waiter_, start));
  ASSERT_TRUE(cohort_.takes(good(), start));
  EXPECT_TRUE(cohort_.asks(good()));
}

class CohortQueue : public testing::Test {
 protected:
  CohortQueue() { EXPECT_TRUE(cohort_.enter()); }
  void queue(std::size_t count, Instant now = start) {
    for (std::size_t i = 0; i < count; ++i) cohort_.queue(waiters_.emplace_back(), now);
  }

  Cohort cohort_{{ttl}};
  std::deque<Cohort::Waiter> waiters_;
};

TEST_F(CohortQueue, AHeldLockIsEnteredByNobody) {
  queue(1);
  EXPECT_FALSE(cohort_.enter());
  EXPECT_FALSE(cohort_.enter(waiters_[0], start));
}

TEST_F(CohortQueue, ALockWithoutWaitersIsFree) {
  EXPECT_EQ(cohort_.leave(start), nullptr);
  EXPECT_TRUE(cohort_.enter());
}

TEST_F(CohortQueue, AFreeLockBelongsToWhoAsksFirst) {
  queue(2);
  EXPECT_EQ(cohort_.leave(start), &waiters_[0]);
  EXPECT_TRUE(cohort_.enter()) << "a running thread, before the woken one";
  EXPECT_FALSE(cohort_.enter(waiters_[0], start));
  EXPECT_EQ(cohort_.leave(start), &waiters_[0]) << "it keeps its place";
  EXPECT_TRUE(cohort_.enter(waiters_[0], start));
  EXPECT_EQ(cohort_.leave(start), &waiters_[1]);
}

TEST_F(CohortQueue, OneThreadIsWokenAtATime) {
  queue(3);
  EXPECT_EQ(cohort_.leave(start), &waiters_[0]);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(cohort_.enter());
    EXPECT_EQ(cohort_.leave(start), nullptr) << "the first is on its way";
  }
  EXPECT_TRUE(cohort_.enter(waiters_[0], start));
}

TEST_F(CohortQueue, WhoHasWaitedForLongIsHandedTheLock) {
  queue(2);
  const Instant now = start + Cohort::patience;
  EXPECT_EQ(cohort_.leave(now), &waiters_[0]);
  EXPECT_FALSE(cohort_.enter()) << "it is not free in between";
  EXPECT_FALSE(cohort_.enter(waiters_[1], now));
  EXPECT_TRUE(cohort_.enter(waiters_[0], now));
  EXPECT_FALSE(cohort_.enter());
}

TEST_F(CohortQueue, ASliceForRunningThreadsFollowsAHandOver) {
  queue(2);
  const Instant now = start + Cohort::patience;
  ASSERT_EQ(cohort_.leave(now), &waiters_[0]);
  const Instant ran = now + microseconds(60);  // the slice begins when the thread runs
  ASSERT_TRUE(cohort_.enter(waiters_[0], ran));
  EXPECT_EQ(cohort_.leave(ran + Cohort::slice - nanoseconds(1)), &waiters_[1]) << "woken only";
  ASSERT_TRUE(cohort_.enter());
  EXPECT_EQ(cohort_.leave(ran + Cohort::slice), &waiters_[1]);
  EXPECT_FALSE(cohort_.enter());
}

TEST_F(CohortQueue, AWokenThreadThatGivesUpTakesNothingWithIt) {
  queue(3);
  // The thread was woken, and the lock is free: the thread has the lock, and must leave.
  ASSERT_EQ(cohort_.leave(start), &waiters_[0]);
  ASSERT_TRUE(cohort_.enter(waiters_[0], start));
  EXPECT_EQ(cohort_.leave(start), &waiters_[1]);
  // The thread was woken, but another one was quicker: that one wakes the next.
  ASSERT_TRUE(cohort_.enter());
  ASSERT_FALSE(cohort_.enter(waiters_[1], start));
  cohort_.cancel(waiters_[1]);
  EXPECT_EQ(cohort_.leave(start), &waiters_[2]);
  // The thread was handed the lock.
  ASSERT_TRUE(cohort_.enter());
  ASSERT_EQ(cohort_.leave(start + Cohort::patience), &waiters_[2]);
  ASSERT_TRUE(cohort_.enter(waiters_[2], start + Cohort::patience));
  EXPECT_EQ(cohort_.leave(start + Cohort::patience), nullptr);
  EXPECT_TRUE(cohort_.enter());
}

TEST_F(CohortQueue, AnyThreadMayCancel) {
  for (std::size_t who = 0; who < 3; ++who) {
    Cohort cohort{{ttl}};
    ASSERT_TRUE(cohort.enter());
    std::deque<Cohort::Waiter> waiters(3);
    for (Cohort::Waiter& waiter : waiters) cohort.queue(waiter, start);
    cohort.cancel(waiters[who]);
    for (std::size_t i = 0; i < 3; ++i) {
      if (i == who) continue;
      EXPECT_EQ(cohort.leave(start), &waiters[i]) << who;
      EXPECT_TRUE(cohort.enter(waiters[i], start));
    }
    EXPECT_EQ(cohort.leave(start), nullptr);
  }
}

TEST_F(CohortQueue, NobodyStarvesBesideAThreadThatNeverStops) {
  constexpr std::size_t count = 64;
  constexpr Duration turn = microseconds(3);
  constexpr Duration wake_up = microseconds(40);
  queue(count);
  Instant now = start;
  std::size_t served = 0;
  // The runner asks again at once and is always quicker than the thread that it woke.
  while (served < count) {
    now += turn;
    Cohort::Waiter* const next = cohort_.leave(now);
    if (cohort_.enter()) {
      if (next != nullptr) {
        EXPECT_FALSE(cohort_.enter(*next, now));
      }
      continue;
    }
    ASSERT_EQ(next, &waiters_[served]) << "in their order";
    now += wake_up;
    ASSERT_TRUE(cohort_.enter(*next, now));
    ++served;
    const auto most = Cohort::patience + served * (Cohort::slice + wake_up + 2 * turn);
    ASSERT_LE(now - start, most) << served;
  }
}

}  // namespace
}  // namespace redlock::api::test
