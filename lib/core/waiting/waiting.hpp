#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/nodes/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// When a waiting acquisition asks again.
struct Plan {
  Instant next_try{};
  bool asleep = false;  ///< a quorum of nodes will notify it before, unless a message is lost
};

/// What waiting keeps in an acquisition.
struct Waiting {
  std::uint64_t arrival = 0;  ///< its number among all acquisitions that ever waited
  bool queued = false;        ///< it is among the waiters of what is in its way
  bool has_ticket = false;    ///< its attempts queue the client if they are refused
  bool tracks = false;        ///< it has nodes track the key: another library's lock is in its way
  bool reserved = false;      ///< nodes refuse new holds of others because of it
  std::uint64_t blocked_by = 0;  ///< which of several resources it waits for; 0: it needs one
  struct Place {
    std::int64_t ticket = 0;       ///< the client's, when it left the queue; 0: none
    std::uint64_t kept_since = 0;  ///< it stays queued there, as this arrival; 0: it does not
  };
  std::vector<Place> places;  ///< in the queues of several resources, see LockTerms::resource_at()

  NodeSet notified_by;      ///< nodes that have notified it since its last attempt began
  bool saw_change = false;  ///< another library's lock has changed since its last attempt began
  /// When it asks in case the client for which the resource is reserved does not come: a node chose
  /// this client to watch that. Instant::min(): it watches nothing.
  Instant watch_until = Instant::min();
  bool watches = false;             ///< its last attempt was such a look
  std::optional<Instant> retry_at;  ///< when to try again, because nodes notified it
  Plan plan;                        ///< its next attempt
};

}  // namespace redlock::core
