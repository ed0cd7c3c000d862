#pragma once

#include <uv.h>

#include <chrono>
#include <optional>

#include "uv/callback.hpp"
#include "uv/handle.hpp"

namespace redlock::uv {

/// Calls back once when CLOCK_BOOTTIME reaches an instant. uv_timer_t is not used because it
/// follows CLOCK_MONOTONIC, which stands still while the machine sleeps (the servers' TTLs do not),
/// and because it counts in milliseconds.
///
/// Lazy: moving the instant later, and disarming, cost no system call; the kernel's timer then
/// expires once for nothing and is set anew. Keeps the loop alive only while armed. Loop thread
/// only. May be destroyed by its callback.
class DeadlineTimer {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  DeadlineTimer(uv_loop_t* loop, Callback on_deadline);
  ~DeadlineTimer();
  DeadlineTimer(const DeadlineTimer&) = delete;
  DeadlineTimer& operator=(const DeadlineTimer&) = delete;

  /// `since_boot` replaces an instant armed earlier; one that has passed fires on the next turn.
  void arm(std::chrono::nanoseconds since_boot) noexcept;
  void disarm() noexcept;

  /// CLOCK_BOOTTIME now.
  [[nodiscard]] static std::chrono::nanoseconds now() noexcept;

 private:
  /// Closes the descriptor after the poll handle let go of it.
  class TimerFd {
   public:
    TimerFd();
    ~TimerFd();
    TimerFd(const TimerFd&) = delete;
    TimerFd& operator=(const TimerFd&) = delete;
    [[nodiscard]] int get() const noexcept { return fd_; }

   private:
    int fd_;
  };

  static void on_readable(uv_poll_t* poll, int status, int events) noexcept;
  void expire() noexcept;
  void set_kernel_timer(std::chrono::nanoseconds since_boot) noexcept;

  Callback on_deadline_;
  std::optional<std::chrono::nanoseconds> wanted_;
  std::optional<std::chrono::nanoseconds> set_in_kernel_;
  TimerFd fd_;
  Handle<uv_poll_t> poll_;
};

}  // namespace redlock::uv
