#pragma once

#include <cstdint>
#include <limits>

#include "core/vocabulary/time.hpp"

namespace redlock::simulation {

/// Nanoseconds of true time since the beginning of a run. Nobody in the model can read it.
using True = std::int64_t;
inline constexpr True never = std::numeric_limits<True>::max();
inline constexpr True ms = 1'000'000;
inline constexpr True hour = 3'600'000 * ms;
/// The wall clocks' time at the beginning of a run: a number of today's size, because fencing
/// tokens are made of it.
inline constexpr std::int64_t wall_epoch = 1'795'000'000'000 * ms;

/// A clock that runs at a slightly wrong rate, from an arbitrary beginning.
class Clock {
 public:
  Clock() = default;
  Clock(std::int64_t base, std::int64_t ppm) : base_(base), ppm_(ppm) {}

  [[nodiscard]] std::int64_t local(True now) const noexcept {
    return base_ + now + now * ppm_ / 1'000'000;
  }
  [[nodiscard]] core::Instant instant(True now) const noexcept {
    return core::Instant(core::Duration(local(now)));
  }
  [[nodiscard]] std::int64_t milliseconds(True now) const noexcept { return local(now) / ms; }

  /// Somebody sets the clock.
  void move(std::int64_t by) noexcept { base_ += by; }

  /// The first moment at which the clock shows `instant` or more.
  [[nodiscard]] True when(core::Instant instant) const noexcept {
    constexpr std::int64_t horizon = 8'000'000'000'000;
    const std::int64_t since = instant.time_since_epoch().count() - base_;
    if (since > horizon) return never;
    if (since <= 0) return 0;
    True guess = since * 1'000'000 / (1'000'000 + ppm_);
    while (guess > 0 && local(guess - 1) - base_ >= since) --guess;
    while (local(guess) - base_ < since) ++guess;
    return guess;
  }

 private:
  std::int64_t base_ = 0;
  std::int64_t ppm_ = 0;
};

}  // namespace redlock::simulation
