#pragma once

#include <string>

#include "quorum-lock/arguments.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

/// PATTERN, of which there is at most one, and --limit. Throws UsageError.
[[nodiscard]] admin::ListOptions list_options(const Arguments& given);

}  // namespace redlock::cli
