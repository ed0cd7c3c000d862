#pragma once

#include <array>

#include "redis/scripts_embedded.hpp"

namespace redlock::redis {

/// The scripts that requests are made of, loaded on every new connection so that their digests are
/// known. The others are sent in full, once.
inline constexpr std::array loaded_scripts{
    scripts::extend, scripts::release,       scripts::releases, scripts::inspect, scripts::fence,
    scripts::queue,  scripts::expire_orphan, scripts::leave,    scripts::notify};

}  // namespace redlock::redis
