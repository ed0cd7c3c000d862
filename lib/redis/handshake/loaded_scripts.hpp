#pragma once

#include <array>

#include "redis/scripts_embedded.hpp"

namespace redlock::redis {

/// The scripts that are loaded on every new connection. Those that delete keys, because one may be
/// the last request that a node reads from this client. Those of the queue, because one that is
/// sent again in full comes after what was asked for behind it. Other scripts are sent in full when
/// a node does not know them: a thousand clients that connect at once do not load them a thousand
/// times.
inline constexpr std::array loaded_scripts{scripts::release, scripts::releases, scripts::queue,
                                           scripts::leave};

}  // namespace redlock::redis
