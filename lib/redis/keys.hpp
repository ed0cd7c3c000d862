#pragma once

#include <string_view>

#include "redlock/inspection.hpp"

namespace redlock::redis::keys {

/// What a node keeps beside the locks, in the database that the locks are in.
inline constexpr std::string_view marker = "redlock:node:marker";          // guard.lua
inline constexpr std::string_view quarantine = "redlock:node:quarantine";  // guard.lua
/// What the latter says where an operator's change of the members began it.
inline constexpr std::string_view quarantine_of_change = "membership";
/// Sorted set: resource → the highest fencing token it knows; "" → the floor. fence.lua
inline constexpr std::string_view fencing_numbers = "redlock:node:numbers";

/// The channel of a waiting client: its id behind this. A message is how many clients were notified
/// before it, one digit, and the resource. release.lua
inline constexpr std::string_view wake_channel = "redlock:wake:";

/// What is at a resource that nobody holds and nobody may have yet. release.lua
inline constexpr std::string_view cooldown = interval_token;

/// No resource begins with this.
inline constexpr std::string_view node_prefix = "redlock:node:";

}  // namespace redlock::redis::keys
