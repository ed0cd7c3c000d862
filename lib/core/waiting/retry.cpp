#include "core/waiting/retry.hpp"

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

Instant next_try(Instant now, const Refusal& refusal, const Outlook& outlook, Randomness& random) {
  const Errc why = refusal.why;
  if (why == Errc::unavailable || why == Errc::excluded) {
    constexpr Duration scale = std::chrono::milliseconds(2);
    return later(now, backoff(outlook.attempts, scale, longest_outage_pause, random));
  }
  const Duration pause = outlook.sleeps
                             ? random.between(shortest_sleep, longest_sleep)
                             : backoff(outlook.attempts, outlook.round_trip, longest_pause, random);
  const bool waits_for_expiry = why == Errc::held && (outlook.notices_expiry || !outlook.sleeps);
  if (!waits_for_expiry || !refusal.free_in) return later(now, pause);
  // A millisecond past the expiry: the servers count in milliseconds, and a key that is almost gone
  // refuses. Shortened before it is added to: a key may be there for longer than a duration can
  // say.
  const Duration gone = std::min(pause, *refusal.free_in) + std::chrono::milliseconds(1);
  return later(now, std::min(pause, gone));
}

}  // namespace redlock::core
