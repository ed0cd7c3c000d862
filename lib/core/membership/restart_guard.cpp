#include "core/membership/restart_guard.hpp"

#include <algorithm>

#include "core/membership/marker.hpp"

namespace redlock::core {
namespace {

using std::chrono::milliseconds;

/// The longest time for which a lease of the deployment can be valid, drift included.
milliseconds longest_validity(milliseconds max_ttl) {
  constexpr std::int64_t drift_divisor = 100;
  const std::int64_t drift = (max_ttl.count() + drift_divisor - 1) / drift_divisor + 2;
  return max_ttl + milliseconds(drift);
}

/// Why the node may have forgotten locks; empty: it has forgotten none.
std::string_view why_it_forgot(const std::optional<Marker>& known, const GuardTerms& terms) {
  if (!known) return met_unmarked;
  if (known->run_id == terms.run_id) {
    const MemoryChange change = change_of_memory(known->replid, terms.memory);
    if (change == MemoryChange::evicted) return "evicted";
    return change == MemoryChange::role ? "role" : std::string_view();
  }
  // A node that restarted keeps its vote if it lost nothing. Its name is compared, because the
  // marker of another node may have come with that node's data.
  const bool lost_nothing =
      terms.durable && known->durable && !known->self.empty() && known->self == terms.name;
  return lost_nothing ? std::string_view() : "restarted";
}

}  // namespace

std::optional<GuardWrites> guard_node(const GuardReading& reading, const GuardTerms& terms) {
  const std::optional<Marker> known = parse_marker(reading.marker);
  const bool same_process = known && known->run_id == terms.run_id;
  if (same_process && change_of_memory(known->replid, terms.memory) == MemoryChange::none) {
    return std::nullopt;
  }
  GuardWrites writes;
  Marker marker;
  const std::string_view why = why_it_forgot(known, terms);
  if (why.empty()) {
    marker = *known;
  } else {
    milliseconds quarantine = terms.quarantine;
    marker.max_ttl = terms.max_ttl;
    if (known) {
      // A node without a marker may be new. The client that takes it back, or opens its deployment
      // again, knows better.
      marker.remembers_since = Marker::from_its_writing;
      // The max TTL of its deployment counts, whichever client meets the node.
      if (known->max_ttl != terms.max_ttl) quarantine = longest_validity(known->max_ttl);
      marker.max_ttl = known->max_ttl;
    }
    marker.self = terms.name;
    marker.durable = terms.durable;
    writes.why = why;
    // A quarantine is never made shorter.
    const bool endless = reading.quarantine && *reading.quarantine < milliseconds::zero();
    const bool longer = !reading.quarantine || *reading.quarantine < quarantine;
    if (longer && !endless) writes.quarantine = quarantine;
    // Fencing numbers may have been forgotten too: their floor is this node's clock at the end of
    // the quarantine. A floor only rises.
    const auto floor = static_cast<std::uint64_t>((reading.time + quarantine).count());
    if (floor > reading.floor.value_or(0)) writes.floor = floor;
  }
  marker.incarnation = terms.incarnation;
  marker.run_id = terms.run_id;
  marker.replid = terms.memory.history;
  writes.marker = format_marker(marker) + ' ' + std::to_string(reading.time.count());
  return writes;
}

}  // namespace redlock::core
