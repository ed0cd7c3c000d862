// The timer on systems that have no timer on the clock that counts suspend: it has to read that
// clock itself.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "support/platform.hpp"
#include "uv/callback.hpp"
#include "uv/deadline_timer.hpp"
#include "uv_test_support.hpp"

namespace {

/// How long the machine was suspended, as this test program sees it.
std::atomic<time_t> seconds_suspended{0};

}  // namespace

// Replaces the C library's function. libuv's timers follow the clock that stops.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == redlock::support::boot_clock) time->tv_sec += seconds_suspended;
  return result;
}

namespace redlock::uv::test {
namespace {

struct Expiry {
  void call() noexcept { ++calls; }
  int calls = 0;
};

TEST(DeadlineTimerInSuspend, NoticesThatItsInstantHasPassedMeanwhile) {
  Loop loop;
  Expiry expiry;
  DeadlineTimer timer(loop.get(), Callback::to<&Expiry::call>(expiry));
  timer.arm(DeadlineTimer::now() + std::chrono::hours(1));
  uv_run(loop.get(), UV_RUN_NOWAIT);
  EXPECT_EQ(expiry.calls, 0);
  seconds_suspended += 3600;
  EXPECT_TRUE(run_until(loop, [&] { return expiry.calls == 1; }));
}

}  // namespace
}  // namespace redlock::uv::test
