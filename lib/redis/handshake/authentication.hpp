#pragma once

#include <string>

#include "redis/handshake/connection_target.hpp"

namespace redlock::redis {

/// Appends AUTH with the target's user and password. False if the target has neither.
[[nodiscard]] bool append_authentication(std::string& out, const ConnectionTarget& target);

}  // namespace redlock::redis
