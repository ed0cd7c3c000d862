#pragma once

#include <string_view>

#include "redlock/inspection.hpp"

namespace redlock::redis::keys {

/// The keys that a node stores next to the locks, in the same database.
inline constexpr std::string_view marker = "redlock:node:marker";          // guard.lua
inline constexpr std::string_view quarantine = "redlock:node:quarantine";  // guard.lua
/// At a replicated node: the record of its primary's reign. reign.lua
inline constexpr std::string_view reign = "redlock:node:reign";
/// At a replicated node: written before the acknowledgements of replicas are counted.
inline constexpr std::string_view beat = "redlock:node:beat";
/// The value of the quarantine's key if an operator's change of the members began it.
inline constexpr std::string_view quarantine_of_change = "membership";
/// Set and deleted by `doctor`, to see whether the server takes writes.
inline constexpr std::string_view check = "redlock:node:check";
/// Sorted set: resource → the highest fencing token it knows; "" → the floor. fence.lua
inline constexpr std::string_view fencing_numbers = "redlock:node:numbers";

/// A member of fencing_numbers that is not a resource: its length makes Redis keep a skip list, not
/// a list.
inline constexpr std::string_view longest_number_name =
    "redlock:node: so long a name that Redis keeps a skip list, not a list";

/// Prefix of a resource's name. Sorted set: the clients that are queued for the resource. queue.lua
inline constexpr std::string_view queue_prefix = "redlock:node:queue:";

/// Prefix of a client's id. The client's name for people; expires when the client can have no lease
/// left.
inline constexpr std::string_view client_prefix = "redlock:node:client:";

/// Prefix of a resource's name. Sorted set: locks on the resource that operators broke lately.
/// audit.lua
inline constexpr std::string_view audit_prefix = "redlock:node:audit:";

/// Prefix of a waiting client's id: the client's channel. A message is the number of clients that
/// were notified before it, one digit, and the resource. release.lua
inline constexpr std::string_view wake_channel = "redlock:wake:";

/// The value of a resource that is free, but whose interval is not over. release.lua
inline constexpr std::string_view cooldown = interval_token;

/// No resource's name begins with this.
inline constexpr std::string_view node_prefix = "redlock:node:";

}  // namespace redlock::redis::keys
