#pragma once

#include <cstdint>
#include <optional>

#include "core/nodes/node_set.hpp"
#include "core/time.hpp"

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
  /// For several resources: the release keeps those before this one reserved for the client, see
  /// LockTerms::resource_at(); 0: none.
  std::uint64_t kept_before = 0;
  /// For how long the release reserves what it passes on; zero: the usual time.
  Duration reserved_for{};
};

}  // namespace redlock::core
