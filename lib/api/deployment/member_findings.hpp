#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/membership.hpp"
#include "redlock/deployment.hpp"

namespace redlock::api {

/// Members that clients with these options find, because a quorum of the members names them, and
/// that were not asked.
[[nodiscard]] std::vector<std::string> members_beside(const std::vector<core::ObservedNode>& nodes);

/// A node that is quarantined as soon as a client meets it, because of the event.
[[nodiscard]] admin::Finding not_met_since(const std::string& node, const std::string& event);

/// Adds the problems of the membership, as the markers show it: first of all a list of nodes that
/// keeps clients from finding a quorum. `nodes` are those of the options.
void judge_members(const std::vector<core::ObservedNode>& nodes, const ClientOptions& options,
                   std::vector<admin::Finding>& findings);

/// How long until locks are granted: see DeploymentCheck::granted_in. `nodes`: as for
/// judge_members.
[[nodiscard]] std::optional<std::chrono::nanoseconds> when_granted(
    const std::vector<core::ObservedNode>& nodes, const ClientOptions& options);

}  // namespace redlock::api
