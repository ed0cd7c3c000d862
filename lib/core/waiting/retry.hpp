#pragma once

#include <chrono>

#include "core/randomness.hpp"
#include "core/time.hpp"
#include "core/waiting/refusal.hpp"

namespace redlock::core {

/// When a waiting acquisition asks again.
struct Plan {
  Instant next_try{};
  bool asleep = false;  ///< nodes will notify it before that, unless a notification gets lost
};

/// How long a waiter that will be notified sleeps at most.
inline constexpr Duration longest_sleep = std::chrono::milliseconds(3200);

/// What a waiter knows when it plans its next attempt, besides the refusal.
struct Outlook {
  unsigned attempts = 0;        ///< lost so far, since the last notification
  Duration round_trip{};        ///< of a quorum
  bool sleeps = false;          ///< a quorum of nodes notifies it when the holder releases
  bool notices_expiry = false;  ///< it is to ask when the lock expires, which notifies nobody
};

/// When a waiting acquire tries again after a lost attempt.
///
/// Held: when q nodes can be free by the refusals' TTLs. Until then notifications wake it; without
/// them it polls with a jittered backoff from the scale of the round trip up to 50 ms. Split,
/// expired: jittered backoff on the same scale, not a fixed 50 to 250 ms: contenders that met once
/// must only miss each other by a round trip. Unavailable, excluded: bounded backoff; a node that
/// comes back ends it early. In a queue, the first client and the watcher notice an expiry, and all
/// clients notice the end of an interval; otherwise they sleep.
[[nodiscard]] Instant next_try(Instant now, const Refusal& refusal, const Outlook& outlook,
                               Randomness& random);

}  // namespace redlock::core
