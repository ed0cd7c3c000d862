#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/eventually.hpp"
#include "support/process.hpp"
#include "uv/callback.hpp"
#include "uv/deadline_timer.hpp"
#include "uv/loop_thread.hpp"
#include "uv/turn_hook.hpp"
#include "uv/wakeup.hpp"
#include "uv_test_support.hpp"

namespace redlock::uv::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Counter {
  void call() noexcept {
    ++calls;
    if (then) then();
  }
  Callback callback() { return Callback::to<&Counter::call>(*this); }

  int calls = 0;
  std::function<void()> then;
};

TEST(DeadlineTimer, NeverFiresBeforeItsInstant) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  const auto instant = DeadlineTimer::now() + milliseconds(20);
  timer.arm(instant);
  ASSERT_TRUE(run_until(loop, [&] { return counter.calls > 0; }));
  EXPECT_GE(DeadlineTimer::now(), instant);
  loop.run();
  EXPECT_EQ(counter.calls, 1);
}

TEST(DeadlineTimer, FiresAtOnceForInstantsThatHavePassed) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  for (const auto instant : {DeadlineTimer::now(), std::chrono::nanoseconds(0)}) {
    counter.calls = 0;
    timer.arm(instant);
    ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 1; }));
  }
}

TEST(DeadlineTimer, ObeysTheLatestInstantWhetherEarlierOrLater) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  timer.arm(DeadlineTimer::now() + std::chrono::hours(1));
  timer.arm(DeadlineTimer::now() + milliseconds(5));
  ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 1; }));

  const auto later = DeadlineTimer::now() + milliseconds(60);
  timer.arm(DeadlineTimer::now() + milliseconds(5));
  timer.arm(later);
  ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 2; }));
  EXPECT_GE(DeadlineTimer::now(), later);
}

TEST(DeadlineTimer, MayBeArmedAgainByItsCallback) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  counter.then = [&] {
    if (counter.calls < 5) timer.arm(DeadlineTimer::now() + milliseconds(1));
  };
  timer.arm(DeadlineTimer::now());
  ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 5; }));
}

TEST(DeadlineTimer, StaysSilentAndKeepsNoLoopAliveOnceDisarmed) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  EXPECT_EQ(uv_loop_alive(loop.get()), 0);
  timer.arm(DeadlineTimer::now() + milliseconds(1));
  EXPECT_NE(uv_loop_alive(loop.get()), 0);
  timer.disarm();
  timer.disarm();
  EXPECT_EQ(uv_loop_alive(loop.get()), 0);
  // A second timer proves that the loop ran past the instant.
  Counter later;
  DeadlineTimer proof(loop.get(), later.callback());
  proof.arm(DeadlineTimer::now() + milliseconds(20));
  ASSERT_TRUE(run_until(loop, [&] { return later.calls == 1; }));
  EXPECT_EQ(counter.calls, 0);
}

TEST(DeadlineTimer, MayBeDestroyedByItsCallback) {
  Loop loop;
  Counter counter;
  std::optional<DeadlineTimer> timer(std::in_place, loop.get(), counter.callback());
  counter.then = [&] { timer.reset(); };
  timer->arm(DeadlineTimer::now());
  loop.run();
  EXPECT_EQ(counter.calls, 1);
}

TEST(TurnHook, CallsBackOnceForManyRequests) {
  Loop loop;
  Counter counter;
  TurnHook hook(loop.get(), counter.callback());
  hook.request();
  hook.request();
  EXPECT_EQ(counter.calls, 0) << "never from inside request()";
  loop.run();
  EXPECT_EQ(counter.calls, 1);
  loop.run();
  EXPECT_EQ(counter.calls, 1);
}

TEST(TurnHook, DoesNotLetThePollBlockWhenRequestedFromItsOwnCallback) {
  Loop loop;
  Counter counter;
  TurnHook hook(loop.get(), counter.callback());
  counter.then = [&] {
    if (counter.calls < 10) hook.request();
  };
  hook.request();
  // Nothing else is on this loop: a poll that blocks would never return.
  loop.run();
  EXPECT_EQ(counter.calls, 10);
}

TEST(TurnHook, ServesARequestBeforeTheNextPoll) {
  Loop loop;
  std::vector<std::string> order;
  Counter at_end;
  TurnHook hook(loop.get(), at_end.callback());
  at_end.then = [&] { order.emplace_back("turn end"); };
  Counter on_wake;
  std::optional<Wakeup> wakeup;
  on_wake.then = [&] {
    order.emplace_back("event");
    hook.request();
    if (on_wake.calls == 1) {
      wakeup->notify();
    } else {
      wakeup.reset();
    }
  };
  wakeup.emplace(loop.get(), on_wake.callback());
  wakeup->notify();
  loop.run();
  EXPECT_EQ(order, (std::vector<std::string>{"event", "turn end", "event", "turn end"}));
}

TEST(TurnHook, MayBeDestroyedByItsCallback) {
  Loop loop;
  Counter counter;
  std::optional<TurnHook> hook(std::in_place, loop.get(), counter.callback());
  counter.then = [&] { hook.reset(); };
  hook->request();
  loop.run();
  EXPECT_EQ(counter.calls, 1);
}

struct Worker {
  Worker() {
    wakeup = std::make_unique<Wakeup>(thread.loop(), Callback::to<&Worker::on_wake>(*this));
  }
  void on_wake() noexcept {
    ++wakeups;
    const int seen_now = written.load();
    on_loop_thread = thread.is_loop_thread();
    pthread_getname_np(pthread_self(), name, sizeof name);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    blocks_signals = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGPIPE) == 1;
    seen.store(seen_now);
  }
  void on_stop() noexcept {
    ++stops;
    wakeup.reset();
  }

  std::atomic<int> written{0};
  int wakeups = 0;
  std::atomic<int> seen{0};
  int stops = 0;
  bool on_loop_thread = false;
  bool blocks_signals = false;
  char name[16] = {};
  std::unique_ptr<Wakeup> wakeup;  // outlives the thread, whose destructor still calls on_stop()
  LoopThread thread{Callback::to<&Worker::on_stop>(*this)};
};

TEST(LoopThread, ServesWakeupsFromManyThreadsAndClosesEverythingWhenStopped) {
  constexpr int threads = 4;
  constexpr int each = 1000;
  Worker worker;
  worker.thread.start();
  std::vector<std::thread> notifiers;
  for (int i = 0; i < threads; ++i) {
    notifiers.emplace_back([&] {
      for (int n = 0; n < each; ++n) {
        worker.written.fetch_add(1);
        worker.wakeup->notify();
      }
    });
  }
  for (auto& notifier : notifiers) notifier.join();
  EXPECT_FALSE(worker.thread.is_loop_thread());
  const auto limit = std::chrono::steady_clock::now() + seconds(30);
  while (worker.seen.load() < threads * each && std::chrono::steady_clock::now() < limit) {
    std::this_thread::yield();
  }
  EXPECT_EQ(worker.seen.load(), threads * each) << "the last notify() was never served";
  worker.thread.stop();
  EXPECT_EQ(worker.stops, 1);
  EXPECT_GE(worker.wakeups, 1);
  EXPECT_LE(worker.wakeups, threads * each);
  EXPECT_TRUE(worker.on_loop_thread);
  EXPECT_TRUE(worker.blocks_signals);
  EXPECT_STREQ(worker.name, "redlock");
  worker.thread.stop();
  EXPECT_EQ(worker.stops, 1);
}

TEST(LoopThread, DoesNotChangeTheSignalMaskOfTheThreadThatStartsIt) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Worker worker;
  worker.thread.start();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

TEST(LoopThread, CleansUpWhenItWasNeverStarted) {
  Worker worker;
  worker.thread.stop();
  EXPECT_EQ(worker.stops, 1);
}

struct LentWorker {
  void on_wake() noexcept {
    seen.store(written.load());
    served_by.store(std::this_thread::get_id());
  }
  void on_stop() noexcept { wakeup.reset(); }

  std::atomic<int> written{0};
  std::atomic<int> seen{0};
  std::atomic<std::thread::id> served_by{};
  std::unique_ptr<Wakeup> wakeup;
  LoopThread thread{Callback::to<&LentWorker::on_stop>(*this), LoopThread::Lending::when_idle};
  LentWorker() {
    wakeup = std::make_unique<Wakeup>(thread.loop(), Callback::to<&LentWorker::on_wake>(*this));
    thread.start();
  }
  /// Returns the value of `seen` after this write is served.
  int write() {
    const int mine = written.fetch_add(1) + 1;
    wakeup->notify();
    return mine;
  }
  [[nodiscard]] bool borrow() {
    const auto limit = std::chrono::steady_clock::now() + seconds(30);
    while (std::chrono::steady_clock::now() < limit) {
      if (thread.try_borrow()) return true;
      std::this_thread::yield();
    }
    return false;
  }
  [[nodiscard]] bool reaches(int what) const {
    const auto limit = std::chrono::steady_clock::now() + seconds(30);
    while (seen.load() < what && std::chrono::steady_clock::now() < limit) {
      std::this_thread::yield();
    }
    return seen.load() >= what;
  }
  [[nodiscard]] bool sees(int what) const { return reaches(what) && seen.load() == what; }
};

TEST(LoopThread, LendsItsLoopAndTakesItUpAgain) {
  LentWorker worker;
  worker.write();
  ASSERT_TRUE(worker.sees(1)) << "by its own thread";
  EXPECT_NE(worker.served_by.load(), std::this_thread::get_id());
  for (int round = 2; round < 200; ++round) {
    ASSERT_TRUE(worker.borrow());
    EXPECT_TRUE(worker.thread.is_loop_thread());
    EXPECT_TRUE(worker.thread.is_borrowed());
    EXPECT_FALSE(worker.thread.try_borrow()) << "it is lent already";
    worker.write();
    while (worker.seen.load() != round) worker.thread.turn();
    EXPECT_EQ(worker.served_by.load(), std::this_thread::get_id());
    worker.thread.give_back(round % 3 == 0);
    EXPECT_FALSE(worker.thread.is_loop_thread());
  }
  worker.write();
  ASSERT_TRUE(worker.sees(200)) << "nobody borrows any more";
}

TEST(LoopThread, SleepsAsLongAsItsLoopIsLent) {
  // Five hundred waiting clients, each of which woke once per millisecond, kept a machine busy.
  LentWorker worker;
  ASSERT_TRUE(worker.borrow());
  EXPECT_TRUE(redlock::test::eventually([] {
    const std::uint64_t before = redlock::test::sleeps_of_other_threads();
    std::this_thread::sleep_for(milliseconds(100));
    // A sanitizer's own thread wakes now and then.
    return redlock::test::sleeps_of_other_threads() - before < 10;
  }));
  worker.thread.give_back(false);
  worker.write();
  ASSERT_TRUE(worker.sees(1)) << "it has taken its loop up again";
}

TEST(LoopThread, IsNotLentToAnybodyWhileSomebodyWaits) {
  LentWorker worker;
  ASSERT_TRUE(worker.borrow());
  worker.thread.begin_waiting();
  worker.thread.give_back(false);
  EXPECT_FALSE(worker.thread.try_borrow());
  worker.write();
  ASSERT_TRUE(worker.sees(1));
  worker.thread.end_waiting();
  worker.thread.leave_to_borrowers();
  EXPECT_TRUE(worker.borrow());
  worker.thread.give_back(false);
}

TEST(LoopThread, KeepsItsLoopUntilTheLastThatWaitedHasBeenAnswered) {
  LentWorker worker;
  worker.thread.begin_waiting();
  worker.thread.begin_waiting();
  worker.thread.end_waiting();
  worker.thread.leave_to_borrowers();
  EXPECT_FALSE(worker.thread.try_borrow());
  worker.write();
  ASSERT_TRUE(worker.sees(1));
  worker.thread.end_waiting();
  worker.thread.leave_to_borrowers();
  EXPECT_TRUE(worker.borrow());
  worker.thread.give_back(false);
}

TEST(LoopThread, ManyThreadsWaitAndBorrowWithoutLosingAnything) {
  LentWorker worker;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 300; ++n) {
        if (worker.thread.try_borrow()) {
          worker.thread.give_back(false);
          continue;
        }
        worker.thread.begin_waiting();
        const int mine = worker.write();
        EXPECT_TRUE(worker.reaches(mine));
        worker.thread.end_waiting();
        worker.thread.leave_to_borrowers();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(worker.borrow());
  worker.thread.give_back(false);
}

TEST(LoopThread, WantsItsLoopBackFromABorrowerWhenItIsStopped) {
  LentWorker worker;
  ASSERT_TRUE(worker.borrow());
  std::thread stopper([&] { worker.thread.stop(); });
  while (!worker.thread.is_wanted_back()) worker.thread.turn();
  EXPECT_NE(worker.wakeup, nullptr) << "what ends with the loop ends on its own thread";
  worker.thread.give_back(false);
  stopper.join();
  EXPECT_EQ(worker.wakeup, nullptr);
  EXPECT_FALSE(worker.thread.try_borrow());
}

TEST(LoopThread, ManyThreadsBorrowAndNotifyWithoutLosingAnything) {
  LentWorker worker;
  std::atomic<int> loans{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 500; ++n) {
        worker.write();
        if (worker.thread.try_borrow()) {
          loans.fetch_add(1);
          worker.thread.give_back(n % 7 == 0);
        }
        worker.thread.want();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(worker.sees(2000));
}

}  // namespace
}  // namespace redlock::uv::test
