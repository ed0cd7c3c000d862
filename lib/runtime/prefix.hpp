#pragma once

#include <string>
#include <vector>

#include "redis/values/node_url.hpp"
#include "redlock/result.hpp"

namespace redlock::runtime {

/// The prefix of a client's keys: from its options, or otherwise from its nodes' URLs, which must
/// agree. Errors: invalid_argument.
[[nodiscard]] Result<std::string> choose_prefix(const std::string& of_options,
                                                const std::vector<redis::NodeUrl>& urls);

}  // namespace redlock::runtime
