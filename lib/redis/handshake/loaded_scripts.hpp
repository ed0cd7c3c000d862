#pragma once

#include <array>

#include "redis/scripts_embedded.hpp"

namespace redlock::redis {

/// The scripts that are loaded on every new connection. Scripts that delete keys are loaded,
/// because one may be the last request that a node reads from this client. Scripts of the queue are
/// loaded, because a script that is sent again in full would arrive after the requests that
/// followed it. Other scripts are sent in full when a node does not know them: a thousand clients
/// that connect at once do not load them a thousand times.
inline constexpr std::array loaded_scripts{scripts::release, scripts::releases, scripts::queue,
                                           scripts::leave};

}  // namespace redlock::redis
