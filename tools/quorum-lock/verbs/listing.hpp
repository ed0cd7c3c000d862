#pragma once

#include <string>

#include "common/text/arguments.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

/// PATTERN, of which there is at most one, and --limit. Throws UsageError.
[[nodiscard]] admin::ListOptions list_options(const Arguments& given);

}  // namespace redlock::cli
