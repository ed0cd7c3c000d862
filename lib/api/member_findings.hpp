#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/membership/membership.hpp"
#include "redlock/deployment.hpp"

namespace redlock::api {

/// The problems of the membership, as the markers show it. `nodes` are those of the options.
[[nodiscard]] std::vector<admin::Finding> judge_members(
    const std::vector<core::ObservedNode>& nodes, const ClientOptions& options);

/// From when on locks are granted: see DeploymentCheck::granted_in. `nodes`: as for judge_members.
[[nodiscard]] std::optional<std::chrono::nanoseconds> when_granted(
    const std::vector<core::ObservedNode>& nodes, const ClientOptions& options);

}  // namespace redlock::api
