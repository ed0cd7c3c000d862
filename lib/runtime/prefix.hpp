#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/values/node_url.hpp"
#include "redlock/result.hpp"

namespace redlock::runtime {

/// The prefix of a client's keys: from its options, or otherwise from its nodes' URLs, which must
/// agree. Errors: invalid_argument.
[[nodiscard]] Result<std::string> choose_prefix(const std::string& of_options,
                                                const std::vector<redis::NodeUrl>& urls);

/// Why the node cannot have keys with this prefix; none: it can.
[[nodiscard]] std::optional<std::string> refuse_untagged(const redis::NodeUrl& url,
                                                         std::string_view prefix);

}  // namespace redlock::runtime
