#pragma once

#include <array>

#include "redis/scripts_embedded.hpp"

namespace redlock::redis {

/// The scripts that are loaded on every new connection, so that their digests are known: those that
/// take a key away. One may be the last request that a node reads from this client. All others are
/// sent in full when a node does not know them, which a thousand clients that connect at once do
/// not have to pay for.
inline constexpr std::array loaded_scripts{scripts::release, scripts::releases};

}  // namespace redlock::redis
