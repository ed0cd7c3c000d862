#include "uv/deadline_timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "support/assert.hpp"

namespace redlock::uv {

using std::chrono::nanoseconds;

DeadlineTimer::TimerFd::TimerFd()
    : fd_(timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC)) {
  if (fd_ < 0) check(-errno, "creating a deadline timer");
}

DeadlineTimer::TimerFd::~TimerFd() {
  // Linux frees the descriptor whatever close() answers.
  static_cast<void>(::close(fd_));
}

DeadlineTimer::DeadlineTimer(uv_loop_t* loop, Callback on_deadline)
    : on_deadline_(on_deadline),
      poll_(make_handle<uv_poll_t>(this, "watching a deadline timer", [&](uv_poll_t* handle) {
        return uv_poll_init(loop, handle, fd_.get());
      })) {
  REDLOCK_ASSERT(uv_poll_start(poll_.get(), UV_READABLE, on_readable) == 0);
  uv_unref(reinterpret_cast<uv_handle_t*>(poll_.get()));
}

DeadlineTimer::~DeadlineTimer() = default;

void DeadlineTimer::arm(nanoseconds since_boot) noexcept {
  if (!wanted_) uv_ref(reinterpret_cast<uv_handle_t*>(poll_.get()));
  wanted_ = since_boot;
  if (!set_in_kernel_ || since_boot < *set_in_kernel_) set_kernel_timer(since_boot);
}

void DeadlineTimer::disarm() noexcept {
  if (!wanted_) return;
  wanted_.reset();
  uv_unref(reinterpret_cast<uv_handle_t*>(poll_.get()));
}

nanoseconds DeadlineTimer::now() noexcept {
  timespec time{};
  REDLOCK_ASSERT(clock_gettime(CLOCK_BOOTTIME, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

void DeadlineTimer::on_readable(uv_poll_t* poll, int status, int /*events*/) noexcept {
  REDLOCK_ASSERT(status == 0);
  static_cast<DeadlineTimer*>(poll->data)->expire();
}

void DeadlineTimer::expire() noexcept {
  std::uint64_t expirations = 0;
  // EAGAIN: the timer was set anew after the poll saw it expired; the new expiry will be seen too.
  if (::read(fd_.get(), &expirations, sizeof expirations) < 0) {
    REDLOCK_ASSERT(errno == EAGAIN || errno == EINTR);
    return;
  }
  set_in_kernel_.reset();
  if (!wanted_) return;
  if (now() < *wanted_) {
    set_kernel_timer(*wanted_);
    return;
  }
  disarm();
  const Callback on_deadline = on_deadline_;
  on_deadline();
}

void DeadlineTimer::set_kernel_timer(nanoseconds since_boot) noexcept {
  // An instant of zero would switch the timer off instead of firing at once.
  const nanoseconds instant = std::max(since_boot, nanoseconds(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(instant);
  itimerspec spec{};
  spec.it_value.tv_sec = seconds.count();
  spec.it_value.tv_nsec = (instant - seconds).count();
  REDLOCK_ASSERT(timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &spec, nullptr) == 0);
  set_in_kernel_ = since_boot;
}

}  // namespace redlock::uv
