#pragma once

#include <string_view>

#include "redlock/inspection.hpp"

namespace redlock::redis::keys {

/// The keys that a node stores beside the locks, in the same database.
inline constexpr std::string_view marker = "redlock:node:marker";          // guard.lua
inline constexpr std::string_view quarantine = "redlock:node:quarantine";  // guard.lua
/// The value of the quarantine's key if an operator's change of the members began it.
inline constexpr std::string_view quarantine_of_change = "membership";
/// Sorted set: resource → the highest fencing token it knows; "" → the floor. fence.lua
inline constexpr std::string_view fencing_numbers = "redlock:node:numbers";

/// A member of it that is no resource: its length makes Redis keep a skip list, not a list.
inline constexpr std::string_view longest_number_name =
    "redlock:node: so long a name that Redis keeps a skip list, not a list";

/// Sorted set: who is queued for the resource behind this. queue.lua
inline constexpr std::string_view queue_prefix = "redlock:node:queue:";

/// What people call a client: its id behind this. Expires when no lease of it can be left.
inline constexpr std::string_view client_prefix = "redlock:node:client:";

/// Sorted set: locks on the resource behind this that operators broke lately. audit.lua
inline constexpr std::string_view audit_prefix = "redlock:node:audit:";

/// The channel of a waiting client: its id behind this. A message is how many clients were notified
/// before it, one digit, and the resource. release.lua
inline constexpr std::string_view wake_channel = "redlock:wake:";

/// The value of a resource that is free, but whose interval is not over. release.lua
inline constexpr std::string_view cooldown = interval_token;

/// No resource begins with this.
inline constexpr std::string_view node_prefix = "redlock:node:";

}  // namespace redlock::redis::keys
