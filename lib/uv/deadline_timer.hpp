#pragma once

#include <uv.h>

#include <chrono>
#include <optional>

#include "uv/boot_timer.hpp"
#include "uv/callback.hpp"

namespace redlock::uv {

/// Calls back once when the boot clock (support::boot_time) reaches an instant, and never before.
///
/// Lazy: moving the instant later, and disarming, cost no system call; the system's timer then
/// expires once needlessly and is set anew. Keeps the loop alive only while armed. Loop thread
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

  /// The boot clock now.
  [[nodiscard]] static std::chrono::nanoseconds now() noexcept;

 private:
  void expire() noexcept;
  void set_system_timer(std::chrono::nanoseconds since_boot) noexcept;

  Callback on_deadline_;
  std::optional<std::chrono::nanoseconds> wanted_;
  std::optional<std::chrono::nanoseconds> set_in_system_;
  BootTimer timer_;
};

}  // namespace redlock::uv
