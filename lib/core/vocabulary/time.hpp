#pragma once

#include <chrono>
#include <optional>

namespace redlock::core {

/// A clock without `now()`: the time is passed to the core, which cannot ask for it. Mixing in
/// another clock's instants does not compile.
struct DrivenClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<DrivenClock>;
  static constexpr bool is_steady = true;
};

using Instant = DrivenClock::time_point;
using Duration = DrivenClock::duration;

/// Later than every other instant; for deadlines that are read so often that an optional would cost
/// time.
inline constexpr Instant never = Instant::max();

/// `start` plus `by`. A sum past the end of time is `never`: it must not wrap around into the past.
[[nodiscard]] constexpr Instant later(Instant start, Duration by) noexcept {
  if (by >= Duration::zero()) {
    return start > Instant::max() - by ? Instant::max() : start + by;
  }
  return start < Instant::min() - by ? Instant::min() : start + by;
}

/// The earlier of two instants; none means never.
[[nodiscard]] constexpr std::optional<Instant> earlier(std::optional<Instant> a,
                                                       std::optional<Instant> b) noexcept {
  if (!a) return b;
  if (!b) return a;
  return *a < *b ? a : b;
}

}  // namespace redlock::core
