#pragma once

#include <string>

#include "redis/connection_target.hpp"

namespace redlock::redis {

/// Appends AUTH for whoever the target says that we are. Answers whether there is anything to
/// prove.
[[nodiscard]] bool append_authentication(std::string& out, const ConnectionTarget& target);

}  // namespace redlock::redis
