#pragma once

#include <vector>

#include "core/membership.hpp"
#include "redlock/deployment.hpp"

namespace redlock::api {

/// What is wrong with who belongs together, by the markers. `nodes` are those of the options.
[[nodiscard]] std::vector<Finding> judge_members(const std::vector<core::ObservedNode>& nodes,
                                                 const ClientOptions& options);

}  // namespace redlock::api
