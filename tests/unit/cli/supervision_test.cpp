#include "quorum-lock/supervise/supervision.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <random>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using Instant = Supervision::Instant;
using Order = Supervision::Order;
using State = Supervision::LeaseView::State;

constexpr Instant start{1000h};
constexpr int exited_with_0 = 0;
constexpr int ended_by_sigterm = 15;

/// A command under a lease, in virtual time.
class Scene {
 public:
  explicit Scene(std::optional<nanoseconds> kill_after = std::nullopt, nanoseconds ttl = 10s)
      : plan_(plan_loss(ttl, kill_after)),
        valid_until_(start + ttl),
        supervision_(plan_, ttl, start, valid_until_) {}

  void set_valid_until(Instant instant) { valid_until_ = instant; }
  Supervision& operator*() { return supervision_; }
  Supervision* operator->() { return &supervision_; }
  [[nodiscard]] Instant now() const { return now_; }

  Order look() {
    return supervision_.look(now_, {valid_until_, now_ < valid_until_ ? State::live : State::over});
  }
  /// Checks at the intervals that Supervision requests, up to `end` or the first order.
  Order look_until(Instant end) {
    for (;;) {
      const Order order = look();
      if (order != Order::none) return order;
      const Instant next = supervision_.next_look(now_);
      EXPECT_GT(next, now_) << "it would spin";
      if (next > end) break;
      now_ = next;
    }
    now_ = end;
    return look();
  }

 private:
  LossPlan plan_;
  Instant now_ = start;
  Instant valid_until_;
  Supervision supervision_;
};

TEST(CliSupervision, ARenewedLeaseNeedsNoSignal) {
  Scene scene;
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(scene.look_until(start + i * 3s), Order::none);
    scene.set_valid_until(start + i * 3s + 10s);
  }
  scene->command_ended(exited_with_0);
  EXPECT_EQ(scene.look(), Order::none);
  EXPECT_TRUE(scene->finished(scene.now()));
  EXPECT_EQ(scene->ending().lock, Ending::Lock::kept);
  EXPECT_EQ(scene->ending().renewals, 20U);
}

TEST(CliSupervision, WithoutRenewalSigtermComesFirstAndSigkillBeforeTheEnd) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 1h), Order::terminate);
  EXPECT_EQ(scene.now(), start + 8s);
  EXPECT_EQ(scene.look_until(start + 1h), Order::kill);
  EXPECT_EQ(scene.now(), start + 9500ms);
  EXPECT_EQ(scene->ending().lock, Ending::Lock::lost);
  EXPECT_EQ(scene->ending().silence, 8s);
  EXPECT_EQ(scene.look_until(scene.now() + 1s), Order::none) << "once";
}

TEST(CliSupervision, ADeadlineThatHasPassedWhenItIsSeenMeansKillAtOnce) {
  Scene scene(8s);
  EXPECT_EQ(scene.look_until(start + 1s), Order::none);
  // The nodes' clocks were set forward: the lease has lost its validity.
  scene.set_valid_until(start + 500ms);
  EXPECT_EQ(scene.look(), Order::kill) << "no grace: somebody else may hold the lock";
  EXPECT_EQ(scene->ending().shortened, 9500ms);
}

TEST(CliSupervision, ALeaseThatIsOverMeansKillAtOnceWhateverItsDeadlineSays) {
  Scene scene(4s);
  EXPECT_EQ(scene->look(start + 1s, {start + 9s, State::over}), Order::kill);

  Scene terminating(4s);
  EXPECT_EQ(terminating.look_until(start + 1h), Order::terminate);
  EXPECT_EQ(terminating->look(terminating.now(), {start + 9s, State::over}), Order::kill);
}

TEST(CliSupervision, ADeadlineThatCameNearerCutsTheGrace) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 1s), Order::none);
  scene.set_valid_until(start + 2s);
  EXPECT_EQ(scene.look(), Order::terminate);
  EXPECT_EQ(scene.look_until(start + 1h), Order::kill);
  EXPECT_EQ(scene.now(), start + 1500ms) << "by the margin before the new end";

  Scene later;
  EXPECT_EQ(later.look_until(start + 1h), Order::terminate);
  later.set_valid_until(start + 9s);
  EXPECT_EQ(later.look_until(start + 1h), Order::kill);
  EXPECT_EQ(later.now(), start + 8500ms) << "while the command was given its grace";
}

TEST(CliSupervision, ARenewalAfterAShortenedDeadlineKeepsTheCommand) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 1s), Order::none);
  scene.set_valid_until(start + 4s);
  EXPECT_EQ(scene.look(), Order::none);
  EXPECT_EQ(scene->ending().shortened, 6s);
  scene.set_valid_until(start + 11s);
  EXPECT_EQ(scene.look_until(start + 8s), Order::none);
  EXPECT_EQ(scene->ending().shortened, 0s) << "that did not cost the lease";
}

TEST(CliSupervision, AGraceEndsWithTheLease) {
  Scene scene(60s);
  EXPECT_EQ(scene.look_until(start + 1h), Order::terminate);
  EXPECT_EQ(scene.now(), start + 5s);
  EXPECT_EQ(scene.look_until(start + 1h), Order::kill);
  EXPECT_EQ(scene.now(), start + 9500ms);

  Scene longest(nanoseconds::max());
  EXPECT_EQ(longest.look_until(start + 1h), Order::terminate);
  EXPECT_EQ(longest.look_until(start + 1h), Order::kill);
}

TEST(CliSupervision, NoGraceMeansKillAtOnce) {
  Scene scene(0s);
  EXPECT_EQ(scene.look_until(start + 1h), Order::kill);
  EXPECT_EQ(scene.now(), start + 9500ms);
}

TEST(CliSupervision, AProcessThatSleptThroughTheEndKillsAtOnce) {
  Scene scene;
  EXPECT_EQ(scene->look(start + 11s, {start + 10s, State::over}), Order::kill);
}

TEST(CliSupervision, AProcessThatWasStoppedBlamesNobodyElse) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 3s), Order::none);
  EXPECT_EQ(scene->ending().stopped, 0s);
  EXPECT_EQ(scene->look(start + 16s, {start + 10s, State::over}), Order::kill);
  EXPECT_GT(scene->ending().stopped, 12s);
  Scene renewed;
  EXPECT_EQ(renewed->look(start + 5s, {start + 10s, State::live}), Order::none);
  EXPECT_GT(renewed->ending().stopped, 4s);
  EXPECT_EQ(renewed->look(start + 6s, {start + 20s, State::live}), Order::none);
  EXPECT_EQ(renewed->ending().stopped, 0s) << "it was renewed since";
}

TEST(CliSupervision, AfterALossItWaitsUntilNothingIsLeft) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 1h), Order::terminate);
  scene->command_ended(ended_by_sigterm);
  EXPECT_FALSE(scene->finished(scene.now())) << "what it has started may still run";
  scene->nothing_left();
  EXPECT_TRUE(scene->finished(scene.now()));
  EXPECT_EQ(scene->ending().sent, Ending::Sent::terminate);
}

TEST(CliSupervision, ItDoesNotWaitForeverForWhatCanNotBeEnded) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 1h), Order::terminate);
  scene->signal_refused();
  EXPECT_FALSE(scene->finished(scene.now()));
  EXPECT_EQ(scene.look_until(start + 1h), Order::kill);
  scene->signal_refused();
  EXPECT_EQ(scene->next_look(scene.now()), scene.now() + Supervision::death_limit);
  EXPECT_FALSE(scene->finished(scene.now() + Supervision::death_limit - 1ns));
  EXPECT_TRUE(scene->finished(scene.now() + Supervision::death_limit));
  EXPECT_EQ(scene->ending().wait_status, std::nullopt) << "it has not ended, and nothing says so";
  EXPECT_EQ(scene->ending().remains, Ending::Remains::beyond_our_rights);
}

TEST(CliSupervision, ACommandThatEndedBeforeTheLossWasSeenIsSentNothing) {
  Scene scene;
  scene->command_ended(exited_with_0);
  scene->nothing_left();
  EXPECT_EQ(scene->look(start + 11s, {start + 10s, State::over}), Order::none);
  EXPECT_TRUE(scene->finished(start + 11s));
  EXPECT_EQ(scene->ending().lock, Ending::Lock::lost);
  EXPECT_EQ(scene->ending().sent, Ending::Sent::nothing);
}

TEST(CliSupervision, ACommandThatEndedInTimeKeptItsLock) {
  Scene scene;
  EXPECT_EQ(scene.look_until(start + 7s), Order::none);
  scene->command_ended(exited_with_0);
  EXPECT_EQ(scene->look(start + 9s, {start + 10s, State::live}), Order::none);
  EXPECT_TRUE(scene->finished(start + 9s));
  EXPECT_EQ(scene->ending().lock, Ending::Lock::kept);
}

/// Deadlines move at random, in both directions. Always: SIGKILL is ordered at the first check that
/// finds no validity, no order comes before its time, and checks come often enough.
TEST(CliSupervision, FollowsAnyDeadlines) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&random](nanoseconds most) {
      return nanoseconds(std::uniform_int_distribution<nanoseconds::rep>(0, most.count())(random));
    };
    const nanoseconds ttl = 100ms + draw(20s);
    const auto grace = seed % 3 == 0 ? std::nullopt : std::optional<nanoseconds>(draw(2 * ttl));
    const LossPlan plan = plan_loss(ttl, grace);
    Supervision supervision(plan, ttl, start, start + ttl);
    Instant now = start;
    Instant valid_until = start + ttl;
    Instant change = now + draw(ttl);
    std::optional<Instant> terminated;
    for (int looks = 0; looks < 5000; ++looks) {
      const Order order =
          supervision.look(now, {valid_until, now < valid_until ? State::live : State::over});
      if (order == Order::kill) {
        const Instant end_of_grace = terminated.value_or(now) + plan.kill_after;
        EXPECT_TRUE(now >= valid_until - plan.margin || now >= end_of_grace) << seed;
        break;
      }
      ASSERT_LT(now, valid_until) << "seed " << seed << ": no validity left, and no SIGKILL";
      if (order == Order::terminate) {
        EXPECT_GE(now, valid_until - plan.term_lead) << seed;
        EXPECT_FALSE(terminated) << seed;
        terminated = now;
      }
      const Instant next = supervision.next_look(now);
      ASSERT_GT(next, now) << seed;
      ASSERT_LE(next, valid_until) << seed;
      now = next;
      if (now >= change) {
        valid_until = now - ttl / 4 + draw(ttl * 5 / 4);
        change = now + draw(ttl);
      }
    }
  }
}

}  // namespace
}  // namespace redlock::cli
