#pragma once

#include <cstddef>
#include <string>

#include "redlock/inspection.hpp"

namespace redlock::cli {

/// How many nodes reported their state. With fewer than the quorum, the lock's state is unknown.
[[nodiscard]] std::size_t count_answered(const Inspection& inspection);

/// One line that says that too few nodes answered, and why.
[[nodiscard]] std::string too_few_answered(const std::string& resource,
                                           const Inspection& inspection);

}  // namespace redlock::cli
