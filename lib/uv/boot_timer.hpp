#pragma once

#include <uv.h>

#include <chrono>
#include <memory>

#include "uv/callback.hpp"

namespace redlock::uv {

/// The system's one-shot timer on the clock that counts suspend, as an event of a loop. It may call
/// back early. boot_timer_linux.cpp: a kernel timer on that clock, exact to the nanosecond.
/// boot_timer_posix.cpp: libuv's timer, a millisecond late at most, and a second after a suspend.
///
/// It keeps the loop alive unless leave_loop_alone() was called. Loop thread only. May be destroyed
/// by its callback.
class BootTimer {
 public:
  /// Throws std::system_error when the process has no file descriptor left.
  BootTimer(uv_loop_t* loop, Callback on_expiry);
  ~BootTimer();
  BootTimer(const BootTimer&) = delete;
  BootTimer& operator=(const BootTimer&) = delete;

  /// Replaces the instant that was set earlier.
  void set(std::chrono::nanoseconds since_boot) noexcept;

  void keep_loop_alive() noexcept { uv_ref(handle_); }
  void leave_loop_alone() noexcept { uv_unref(handle_); }

 private:
  struct State;
  std::unique_ptr<State> state_;
  uv_handle_t* handle_;
};

}  // namespace redlock::uv
