// Operations that cost the same with many callers as with few. The tests count visits: a clock
// would disturb a busy machine.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "core/containers/slot_set.hpp"
#include "core/votes/lost_votes.hpp"
#include "core/waiting/waiters.hpp"
#include "unit/core/waiting/crowd.hpp"

namespace redlock::core::test {
namespace {

constexpr std::size_t many = 4'000;

std::string name(std::size_t i) { return "resource" + std::to_string(i); }

struct Leases : Crowd {
  Leases() : Crowd(many) {
    for (std::size_t i = 0; i < many; ++i) hold(i + 1, name(i));
  }
};

/// Waiters, each for a key of its own, or all for one key.
struct Waiting : Crowd {
  enum class For { own, one };
  explicit Waiting(For what) : Crowd(many) {
    for (std::size_t i = 0; i < many; ++i) wait_for(i + 1, what == For::own ? name(i) : name(0));
  }
};

/// The number of claims, acquisitions and keys that `what` visited one by one.
template <typename What>
std::uint64_t visited(Crowd& crowd, What&& what) {
  const std::uint64_t before = crowd.engine().visited();
  what();
  return crowd.engine().visited() - before;
}

TEST(Scale, AReleaseByTokenDoesNotVisitOtherLeases) {
  Leases crowd;
  ASSERT_EQ(crowd.granted().size(), many);
  EXPECT_EQ(visited(crowd,
                    [&] {
                      crowd.step(ReleaseToken{CallId{many + 1}, "x", *Token::parse("token")});
                      crowd.answer_all(Reply::granted);
                    }),
            0U);
  EXPECT_EQ(crowd.released(), 1U);
}

TEST(Scale, ANodeThatComesAndGoesDoesNotVisitLeasesThatItDoesNotConcern) {
  Leases crowd;
  EXPECT_EQ(visited(crowd,
                    [&] {
                      crowd.down(0);
                      crowd.up(0);
                    }),
            0U);
}

TEST(Scale, ANodeThatComesUpIsGivenWhatItIsOwed) {
  Leases crowd;
  crowd.down(0);
  for (std::size_t i = 0; i < 10; ++i) {
    crowd.step(Release{CallId{many + i}, crowd.granted()[i * 100]});
    crowd.answer_all(Reply::granted);
  }
  EXPECT_EQ(crowd.released(), 10U);
  const std::size_t before = crowd.requests();
  EXPECT_LE(visited(crowd, [&] { crowd.up(0); }), 10U);
  EXPECT_GE(crowd.requests(), before + 10);
}

TEST(Scale, ACancelledWaiterDoesNotVisitTheOthers) {
  Waiting crowd(Waiting::For::own);
  EXPECT_EQ(visited(crowd,
                    [&] {
                      crowd.step(Cancel{CallId{many / 2}});
                      crowd.step(Cancel{CallId{3 * many}});  // nobody's call
                    }),
            0U);
  EXPECT_EQ(crowd.failed(), 1U);
}

TEST(Scale, ACancelledWaiterVisitsFewThatWaitForTheSame) {
  Waiting crowd(Waiting::For::one);
  for (std::size_t i = 0; i < 100; ++i) {
    // Only the first remaining waiter is checked for a wake-up.
    EXPECT_LE(visited(crowd, [&] { crowd.step(Cancel{CallId{1 + i * (many / 100)}}); }), 2U) << i;
  }
  EXPECT_EQ(crowd.failed(), 100U);
}

TEST(Scale, ANodeThatGoesDownVisitsEveryKeyOnceThatIsWaitedFor) {
  Waiting of_their_own(Waiting::For::own);
  EXPECT_EQ(visited(of_their_own, [&] { of_their_own.down(0); }), many);
  Waiting of_one(Waiting::For::one);
  EXPECT_EQ(visited(of_one, [&] { of_one.down(0); }), 1U) << "two nodes will notify";
  EXPECT_EQ(visited(of_one, [&] { of_one.down(1); }), many + 1) << "all have to poll now";
}

TEST(Scale, AMessageForAKeyThatNobodyWaitsForLeavesNothingBehind) {
  for (const std::uint32_t before : {0U, 1U}) {
    Crowd crowd(many);
    for (std::size_t i = 0; i < 1000; ++i) crowd.step(Notification{0, name(i), before});
    crowd.step(TimePassed{});
    EXPECT_LE(visited(crowd, [&] { crowd.down(0); }), 32U) << "so many are kept on purpose";
  }
}

TEST(Scale, AShutdownVisitsEveryLeaseAFewTimes) {
  Leases crowd;
  EXPECT_LE(visited(crowd,
                    [&] {
                      crowd.step(Shutdown{5s});
                      crowd.answer_all(Reply::granted);
                    }),
            8 * many);
}

TEST(Scale, AShutdownWithAnUnreachableNodeVisitsEveryLeaseAFewTimes) {
  Leases crowd;
  crowd.down(0);
  EXPECT_LE(visited(crowd,
                    [&] {
                      crowd.step(Shutdown{5s});
                      crowd.answer_all(Reply::granted);
                    }),
            9 * many);
}

TEST(Scale, AShutdownVisitsEveryCallerThatWaitsAFewTimes) {
  Waiting of_their_own(Waiting::For::own);
  EXPECT_LE(visited(of_their_own,
                    [&] {
                      of_their_own.step(Shutdown{5s});
                      of_their_own.answer_all(Reply::granted);
                    }),
            5 * many);
  EXPECT_EQ(of_their_own.failed(), many);
  Waiting of_one(Waiting::For::one);
  EXPECT_LE(visited(of_one,
                    [&] {
                      of_one.step(Shutdown{5s});
                      of_one.answer_all(Reply::granted);
                    }),
            5 * many);
}

TEST(Waiters, AreVisitedInTheOrderInWhichTheyCame) {
  Waiters waiters;
  for (std::uint32_t i = 0; i < 100; ++i) waiters.add(i + 1, i);
  for (std::uint32_t i = 0; i < 100; ++i) {
    if (i % 7 != 3) waiters.remove(i + 1);
  }
  std::string seen;
  waiters.each_while([&](std::uint32_t i) {
    seen += std::to_string(i) + ' ';
    return i < 50;
  });
  EXPECT_EQ(seen, "3 10 17 24 31 38 45 52 ");
  EXPECT_EQ(waiters.size(), 14U);
}

TEST(SlotSet, VisitsInOrderWhatIsInIt) {
  SlotSet slots;
  const std::vector<std::uint32_t> some{0, 63, 64, 4095, 4096, 70'000, 500'000};
  for (const std::uint32_t slot : some) slots.add(slot);
  std::vector<std::uint32_t> seen;
  slots.each([&](std::uint32_t slot) { seen.push_back(slot); });
  EXPECT_EQ(seen, some);
  seen.clear();
  slots.each([&](std::uint32_t slot) {
    seen.push_back(slot);
    if (slot == 0) {
      slots.remove(64);
      slots.add(65);
      slots.remove(500'000);
    }
  });
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{0, 63, 65, 4095, 4096, 70'000}));
}

TEST(LostVotes, AreThoseThatWentSince) {
  LostVotes lost;
  lost.lose(3);
  const std::uint32_t then = lost.count();
  lost.lose(1);
  EXPECT_EQ(lost.since(then), NodeSet::of(1));
  EXPECT_EQ(lost.since(0), NodeSet::of(1) | NodeSet::of(3));
  EXPECT_TRUE(lost.since(lost.count()).empty());
}

}  // namespace
}  // namespace redlock::core::test
