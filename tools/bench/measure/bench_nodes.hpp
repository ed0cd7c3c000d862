#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// --nodes-count, or `by_default`. If the settings name no nodes, the mode starts as many as it
/// needs. Throws UsageError.
[[nodiscard]] std::vector<std::uint64_t> choose_nodes(const Arguments& given, Settings& settings,
                                                      std::vector<std::uint64_t> by_default);

/// Refuses nodes with TLS, a user name or a database number, for `option`, whose programs cannot
/// talk to these. Throws UsageError.
void require_plain_nodes(const Settings& settings, std::string_view option);

}  // namespace redlock::cli
