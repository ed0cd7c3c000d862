#pragma once

#include <atomic>
#include <cstdint>

namespace redlock::wall_clock {

/// What a clock file holds: how far a program's wall clock is from the machine's. One process
/// writes it, others map it and read it whenever they read the time.
struct Setting {
  std::atomic<std::int64_t> offset_ns{0};
  /// Microseconds that the clock gains per second since `origin_ns`. Both are set before a program
  /// starts: two numbers cannot be changed at one instant.
  std::int64_t drift_ppm = 0;
  std::int64_t origin_ns = 0;  ///< on CLOCK_MONOTONIC
};

static_assert(std::atomic<std::int64_t>::is_always_lock_free, "it is shared between processes");

/// The environment variable that names the clock file.
inline constexpr char file_variable[] = "REDLOCK_CLOCK_FILE";

}  // namespace redlock::wall_clock
