#pragma once

#include <optional>
#include <string_view>

#include "bench/measure/cycle_result.hpp"

namespace redlock::cli {

/// Where the floor program has to connect to for this node; none for nodes that it cannot speak to:
/// with TLS, a user or a database number.
[[nodiscard]] std::optional<bench::Endpoint> plain_endpoint(std::string_view url);

}  // namespace redlock::cli
