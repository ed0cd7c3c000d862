#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/cycle_result.hpp"

namespace redlock::cli {

/// The address of this node for a program that is not the library; none if the node needs TLS, a
/// user or a database number.
[[nodiscard]] std::optional<bench::Endpoint> plain_endpoint(std::string_view url);

/// The addresses of nodes that all have a plain endpoint.
[[nodiscard]] std::vector<bench::Endpoint> plain_endpoints(const std::vector<std::string>& urls);

}  // namespace redlock::cli
