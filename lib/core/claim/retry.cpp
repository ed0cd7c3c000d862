#include "core/claim/retry.hpp"

#include <algorithm>

namespace redlock::core {
namespace {

constexpr Duration shortest_scale = std::chrono::microseconds(100);
constexpr Duration longest_pause = std::chrono::milliseconds(50);
constexpr Duration longest_outage_pause = std::chrono::milliseconds(250);
// Of a waiter that will be notified: notifications get lost.
constexpr Duration shortest_sleep = std::chrono::milliseconds(2400);

Duration backoff(unsigned attempts, Duration scale, Duration longest, Randomness& random) {
  const unsigned doublings = std::min(attempts, 12U);
  const Duration base = std::min(std::max(scale, shortest_scale) * (1 << doublings), longest);
  return random.between(base / 2, base);
}

}  // namespace

Instant next_try(Instant now, const Refusal& refusal, unsigned attempts, Duration round_trip,
                 Notified notified, bool notices_expiry, Randomness& random) {
  const Errc why = refusal.why;
  if (why == Errc::unavailable || why == Errc::excluded) {
    return later(now,
                 backoff(attempts, std::chrono::milliseconds(2), longest_outage_pause, random));
  }
  const Duration pause = notified == Notified::yes
                             ? random.between(shortest_sleep, longest_sleep)
                             : backoff(attempts, round_trip, longest_pause, random);
  const bool waits_for_expiry = why == Errc::held && (notices_expiry || notified == Notified::no);
  const std::optional<Duration> free_in = waits_for_expiry ? refusal.free_in : std::nullopt;
  // A millisecond past the expiry: the servers count in milliseconds, and a key that is almost gone
  // refuses.
  // Shortened before it is added to: a key may be there for longer than a duration can say.
  if (free_in) {
    const Duration gone = std::min(pause, *free_in) + std::chrono::milliseconds(1);
    return later(now, std::min(pause, gone));
  }
  return later(now, pause);
}

}  // namespace redlock::core
