#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "redlock/clock.hpp"
#include "redlock/options.hpp"

namespace redlock::api {

/// The options of the `try_` functions: the wait of the call replaces that of the options. A time
/// that has passed is one attempt.
[[nodiscard]] inline AcquireOptions&& waiting_for(AcquireOptions&& options,
                                                  std::chrono::nanoseconds wait) noexcept {
  options.wait = std::max(wait, std::chrono::nanoseconds::zero());
  return std::move(options);
}

[[nodiscard]] inline AcquireOptions&& asking_once(AcquireOptions&& options) noexcept {
  return waiting_for(std::move(options), std::chrono::nanoseconds::zero());
}

[[nodiscard]] inline std::chrono::nanoseconds wait_until(BootClock::time_point deadline) noexcept {
  const auto now = BootClock::now();
  // Compared first: from a deadline at the beginning of time nothing can be subtracted.
  if (deadline <= now) return std::chrono::nanoseconds::zero();
  return deadline == BootClock::time_point::max() ? forever : deadline - now;
}

}  // namespace redlock::api
