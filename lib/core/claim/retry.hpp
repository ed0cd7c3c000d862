#pragma once

#include <chrono>
#include <cstdint>

#include "core/randomness.hpp"
#include "core/time.hpp"
#include "core/waiting/refusal.hpp"

namespace redlock::core {

/// How long a waiter that will be notified sleeps at most.
inline constexpr Duration longest_sleep = std::chrono::milliseconds(3200);

/// The shortest pause between attempts to be quicker than other libraries' clients.
inline constexpr Duration eager_pause = std::chrono::milliseconds(5);

/// Whether nodes notify the waiter when the holder releases.
enum class Notified : std::uint8_t { no, yes };

/// When a waiting acquire tries again after a lost attempt.
///
/// Held: when q nodes can be free by the refusals' TTLs. Until then notifications wake it; without
/// them it polls with a jittered backoff from the scale of the round trip up to 50 ms. Split,
/// expired: jittered backoff on the same scale, not a fixed 50 to 250 ms: contenders that met once
/// must only miss each other by a round trip. Unavailable, excluded: bounded backoff; a node that
/// comes back ends it early. In a queue, the first client and the watcher notice an expiry, and all
/// clients notice the end of an interval (`notices_expiry`); otherwise they sleep.
///
/// `attempts` is how many were lost so far, `round_trip` the slowest voter's.
[[nodiscard]] Instant next_try(Instant now, const Refusal& refusal, unsigned attempts,
                               Duration round_trip, Notified notified, bool notices_expiry,
                               Randomness& random);

}  // namespace redlock::core
