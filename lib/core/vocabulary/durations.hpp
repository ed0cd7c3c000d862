#pragma once

#include <string>

#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// "250 ms", "1.5 s": for messages.
[[nodiscard]] std::string format_duration(Duration duration);

/// The message about a node that was not connected within `limit`. Names the option that sets it.
[[nodiscard]] std::string no_connection_within(Duration limit);

}  // namespace redlock::core
