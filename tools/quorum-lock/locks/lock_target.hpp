#pragma once

#include <string>
#include <vector>

#include "common/session/subject.hpp"
#include "common/text/arguments.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {

/// The lock that RESOURCE..., --shared, --permits, --owner and --interval name. Throws UsageError,
/// which names both, for options that cannot be combined.
[[nodiscard]] Target target_of(const Arguments& given);

/// RESOURCE... as results name them.
[[nodiscard]] Subject subject_of(const std::vector<std::string>& resources);

}  // namespace redlock::cli
