#pragma once

#include "redlock/language.hpp"

#include <chrono>

#include "redlock/export.hpp"

namespace redlock {

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

}  // namespace redlock
