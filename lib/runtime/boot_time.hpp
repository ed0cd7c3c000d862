#pragma once

#include "core/vocabulary/time.hpp"
#include "redlock/clock.hpp"

namespace redlock::runtime {

/// Converts between the core's instants and the public clock. Nothing else does.
[[nodiscard]] inline core::Instant to_core(BootClock::time_point instant) noexcept {
  return core::Instant(instant.time_since_epoch());
}
[[nodiscard]] inline BootClock::time_point to_public(core::Instant instant) noexcept {
  return BootClock::time_point(instant.time_since_epoch());
}
[[nodiscard]] inline core::Instant boot_now() noexcept { return to_core(BootClock::now()); }

}  // namespace redlock::runtime
