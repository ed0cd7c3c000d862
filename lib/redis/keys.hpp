#pragma once

#include <string_view>

namespace redlock::redis::keys {

/// What a node keeps beside the locks, in the database that the locks are in.
inline constexpr std::string_view marker = "redlock:node:marker";          // guard.lua
inline constexpr std::string_view quarantine = "redlock:node:quarantine";  // guard.lua
inline constexpr std::string_view fence = "redlock:node:fence";            // fence.lua
/// Before a resource: its number, apart from the lock because it outlives it.
inline constexpr std::string_view number_prefix = "redlock:fence:";

/// No resource begins with one of these.
inline constexpr std::string_view node_prefix = "redlock:node:";

}  // namespace redlock::redis::keys
