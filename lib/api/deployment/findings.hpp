#pragma once

#include <string>
#include <vector>

#include "redlock/deployment.hpp"
#include "runtime/survey.hpp"

namespace redlock::api {

/// Compares and judges the answers of all nodes: first those of the options, then others that
/// clients find. Pure.
[[nodiscard]] admin::DeploymentCheck judge(std::vector<runtime::SurveyedNode> nodes,
                                           const ClientOptions& options);

/// The members that are to be asked as well: see members_beside.
[[nodiscard]] std::vector<std::string> members_to_find(
    const std::vector<runtime::SurveyedNode>& nodes, const ClientOptions& options);

}  // namespace redlock::api
