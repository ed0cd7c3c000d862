#pragma once

#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// How far the nodes' clocks can run apart over a TTL.
[[nodiscard]] constexpr Duration drift(Duration ttl) noexcept { return limits::clock_drift(ttl); }

/// The deadline of a lease whose granting round began at `start`. Only
/// ValidityBasis::deadline lowers it, after clocks have stepped. It is handed on as an instant: a
/// remaining duration that is added to a later "now" outlives the keys. Not after `start` if the
/// TTL is all drift.
[[nodiscard]] constexpr Instant valid_until(Instant start, Duration ttl) noexcept {
  return later(start, ttl - drift(ttl));
}

/// When the nodes have certainly forgotten a key that was set or extended by `sent`.
[[nodiscard]] constexpr Instant gone_by(Instant sent, Duration ttl) noexcept {
  return later(later(sent, ttl), drift(ttl));
}

}  // namespace redlock::core
