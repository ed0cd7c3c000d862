#pragma once

#include <optional>
#include <string_view>

#include "bench/measure/cycle_result.hpp"

namespace redlock::cli {

/// The address of this node for the floor program; none for nodes that it cannot talk to: with TLS,
/// a user or a database number.
[[nodiscard]] std::optional<bench::Endpoint> plain_endpoint(std::string_view url);

}  // namespace redlock::cli
