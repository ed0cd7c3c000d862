#pragma once

#include <string_view>

#include "redlock/inspection.hpp"

namespace redlock::redis::keys {

/// What a node keeps beside the locks, in the database that the locks are in.
inline constexpr std::string_view marker = "redlock:node:marker";          // guard.lua
inline constexpr std::string_view quarantine = "redlock:node:quarantine";  // guard.lua
/// Sorted set: resource → the highest fencing token it knows; "" → the floor. fence.lua
inline constexpr std::string_view numbers = "redlock:node:numbers";

/// Somebody listens for what is given up: deleted together with a resource, which is how a release
/// learns of it at no cost, and put back for as long as the other is there. release.lua
inline constexpr std::string_view awaited = "redlock:node:awaited";
inline constexpr std::string_view waiters = "redlock:node:waiters";

/// Where it is told that a resource was given up: behind this, the resource. release.lua
inline constexpr std::string_view free_channel = "redlock:free:";

/// What is at a resource that nobody holds and nobody may have yet. release.lua
inline constexpr std::string_view cooldown = interval_token;

/// No resource begins with this.
inline constexpr std::string_view node_prefix = "redlock:node:";

}  // namespace redlock::redis::keys
