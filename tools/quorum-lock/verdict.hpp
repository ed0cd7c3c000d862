#pragma once

#include <cstddef>
#include <string>

#include "redlock/inspection.hpp"

namespace redlock::cli {

/// How many nodes told what they store. Fewer than the quorum, and nothing is known of the lock.
[[nodiscard]] std::size_t count_answered(const Inspection& inspection);

/// One line that says so, and why.
[[nodiscard]] std::string too_few_answered(const std::string& resource,
                                           const Inspection& inspection);

}  // namespace redlock::cli
