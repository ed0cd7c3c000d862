#pragma once

#include <vector>

#include "redlock/deployment.hpp"
#include "runtime/survey.hpp"

namespace redlock::api {

/// Compares and judges the answers of all nodes: first those of the options, then others that
/// clients find. Pure.
[[nodiscard]] admin::DeploymentCheck judge(std::vector<runtime::SurveyedNode> nodes,
                                           const ClientOptions& options);

}  // namespace redlock::api
