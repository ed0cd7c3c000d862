#include "core/nodes/link.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {
namespace {

/// How soon a client that was led to a replica asks again who the primary is.
constexpr Duration replica_look = std::chrono::seconds(1);

}  // namespace

std::optional<std::uint64_t> Link::came_up(By<Contacts> /*their*/, const NodeUp& event,
                                           Instant now) {
  REDLOCK_ASSERT(in_flight->empty());
  const std::uint64_t evicted_before = evicted_;
  const Evictions evictions =
      contact->server() == event.server
          ? evictions_between(evicted_before, event.evicted, event.keeps_keys)
          : Evictions::none;
  contact.by(me).came_up(event, now);
  evicted_ = event.evicted;
  evictions_read_at_ = now;
  const bool same_memory = mandate.by(me).met(event, now);
  reign.by(me).met(event.reign, mandate->marker(), event.primary, now);
  if (reign->is_replicated() && event.replica) mandate.by(me).meet_anew(later(now, replica_look));
  // Another client may have seen evictions before the number was reset: the marker says so.
  const bool reset = evictions == Evictions::unknown;
  if (evictions == Evictions::some || (reset && !same_memory)) clock_.lose_keys();
  return reset ? std::optional(evicted_before) : std::nullopt;
}

void Link::went_down(By<Contacts> /*their*/, Instant now, Vote vote, std::string_view why,
                     Randomness& random) {
  contact.by(me).went_down(now, vote, why, !in_flight->empty(), random);
  in_flight.by(me).broke(vote == Vote::timeout);
  mandate.by(me).set_duplicate_of(std::nullopt);
}

Duration Link::remembers_for(Instant now) const noexcept {
  const auto& marker = mandate->marker();
  // This server has forgotten all grants of other servers before its reign.
  const auto& record = reign->record();
  std::chrono::microseconds since = marker ? marker->remembers_since : Marker::always;
  if (record) since = std::max(since, record->confirmed_at);
  if (since == Marker::always) return Duration::max();
  const Duration known = now - (record ? reign->seen_at() : mandate->remembers_since());
  const auto clock = clock_.at_least(now);
  // Compared in microseconds, because a time in a marker can be too large for nanoseconds.
  if (!clock || std::chrono::floor<std::chrono::microseconds>(*clock) < since) return known;
  return std::max<Duration>(known, std::chrono::floor<std::chrono::microseconds>(*clock) - since);
}

}  // namespace redlock::core
