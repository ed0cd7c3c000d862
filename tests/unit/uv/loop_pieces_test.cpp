#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

TEST(DeadlineTimer, never_fires_before_its_instant) {
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

TEST(DeadlineTimer, fires_at_once_for_instants_that_have_passed) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  for (const auto instant : {DeadlineTimer::now(), std::chrono::nanoseconds(0)}) {
    counter.calls = 0;
    timer.arm(instant);
    ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 1; }));
  }
}

TEST(DeadlineTimer, obeys_the_latest_instant_whether_earlier_or_later) {
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

TEST(DeadlineTimer, may_be_armed_again_by_its_callback) {
  Loop loop;
  Counter counter;
  DeadlineTimer timer(loop.get(), counter.callback());
  counter.then = [&] {
    if (counter.calls < 5) timer.arm(DeadlineTimer::now() + milliseconds(1));
  };
  timer.arm(DeadlineTimer::now());
  ASSERT_TRUE(run_until(loop, [&] { return counter.calls == 5; }));
}

TEST(DeadlineTimer, stays_silent_and_keeps_no_loop_alive_once_disarmed) {
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

TEST(DeadlineTimer, may_be_destroyed_by_its_callback) {
  Loop loop;
  Counter counter;
  std::optional<DeadlineTimer> timer(std::in_place, loop.get(), counter.callback());
  counter.then = [&] { timer.reset(); };
  timer->arm(DeadlineTimer::now());
  loop.run();
  EXPECT_EQ(counter.calls, 1);
}

TEST(TurnHook, calls_back_once_for_many_requests) {
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

TEST(TurnHook, does_not_let_the_poll_block_when_requested_from_its_own_callback) {
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

TEST(TurnHook, serves_a_request_before_the_next_poll) {
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

TEST(TurnHook, may_be_destroyed_by_its_callback) {
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

TEST(LoopThread, serves_wakeups_from_many_threads_and_closes_everything_when_stopped) {
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

TEST(LoopThread, does_not_change_the_signal_mask_of_the_thread_that_starts_it) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  Worker worker;
  worker.thread.start();
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGTERM), sigismember(&after, SIGTERM));
}

TEST(LoopThread, cleans_up_when_it_was_never_started) {
  Worker worker;
  worker.thread.stop();
  EXPECT_EQ(worker.stops, 1);
}

}  // namespace
}  // namespace redlock::uv::test
