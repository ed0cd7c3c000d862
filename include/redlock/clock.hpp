#pragma once

#include "redlock/language.hpp"

#include <chrono>

#include "redlock/export.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The clock of every deadline in this library: CLOCK_BOOTTIME on Linux. On other systems it is
/// CLOCK_MONOTONIC, which counts suspend there.
///
/// `std::chrono::steady_clock` is CLOCK_MONOTONIC on Linux and stops while the machine is
/// suspended; the TTLs on the servers go on. A lease measured with it would seem valid after a
/// night in suspend. Code that mixes instants of the two clocks does not compile.
///
/// Thread safety: `now()` may be called from anywhere, signal handlers included.
struct REDLOCK_EXPORT BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  /// The time since the machine was started.
  [[nodiscard]] static time_point now() noexcept;
};

/// Converts durations and instants of any kind to the longest wait of a call.
namespace wait_detail {

// Wide enough for the beginning and the end of time.
using Wide = std::chrono::duration<long double, std::nano>;

/// Zero for a negative duration and for NaN; `forever` for one that does not fit.
template <typename Rep, typename Period>
[[nodiscard]] std::chrono::nanoseconds saturated(const std::chrono::duration<Rep, Period>& wait) {
  if (Wide(wait) >= Wide(std::chrono::nanoseconds::max())) return std::chrono::nanoseconds::max();
  if (!(wait > wait.zero())) return std::chrono::nanoseconds{0};
  return std::chrono::ceil<std::chrono::nanoseconds>(wait);
}

/// The wait until an instant of any clock. The clock's last instant means `forever`.
template <typename Clock, typename Duration>
[[nodiscard]] std::chrono::nanoseconds time_left(
    const std::chrono::time_point<Clock, Duration>& deadline) {
  if (deadline == std::chrono::time_point<Clock, Duration>::max()) {
    return std::chrono::nanoseconds::max();
  }
  return saturated(Wide(deadline.time_since_epoch()) - Wide(Clock::now().time_since_epoch()));
}

}  // namespace wait_detail

}  // namespace REDLOCK_ABI
}  // namespace redlock
