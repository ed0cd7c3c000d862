#pragma once

#include <cstdint>
#include <optional>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// The client's position in the queue of a resource, as the requests of one attempt carry it.
struct QueuePosition {
  bool as_client = false;  ///< requests name the client, and can take what is reserved for it
  /// The ticket with which a refusal queues the client; 0: a new one; none: a refusal does not
  /// queue the client.
  std::optional<std::int64_t> ticket{};
  NodeSet nodes{};       ///< nodes that were asked with the ticket
  NodeSet unanswered{};  ///< those of `nodes` that had not answered when the lock was granted
  bool again = false;    ///< the attempt was lost, and its release queues the client again
  bool quiet = false;    ///< the release passes nothing on, because another client has the lock
  /// The one of several resources that the caller waits for, see LockTerms::resource_at(); 0: none.
  std::uint64_t waits_for = 0;
  /// Until when those of several resources that nodes have reserved for the client stay reserved
  /// for it if another one is in the way. In the past: for as long as they are.
  Instant keep_until = Instant::min();
  /// The attempt was lost, and its release keeps these of several resources reserved for the
  /// client: a bit for each, from the lowest on, see LockTerms::resource_at().
  std::uint64_t kept = 0;
  /// For how long the release reserves what it passes on; zero: the usual time.
  Duration reserved_for{};
};

}  // namespace redlock::core
