#pragma once

#include <chrono>

#include "redlock/export.hpp"

namespace redlock {

/// The clock of every deadline in this library: CLOCK_BOOTTIME.
///
/// `std::chrono::steady_clock` is CLOCK_MONOTONIC on Linux and stands still while the machine is
/// suspended; the TTLs on the servers do not. A lease measured with it would look valid after a
/// night in suspend. Instants of the two clocks cannot be mixed: it does not compile.
///
/// Thread safety: `now()` may be called from anywhere, signal handlers included.
struct REDLOCK_EXPORT BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;

  [[nodiscard]] static time_point now() noexcept;
};

}  // namespace redlock
