#pragma once

#include <vector>

#include "redlock/deployment.hpp"
#include "runtime/survey.hpp"

namespace redlock::api {

/// Compares and judges the answers of all nodes. Pure.
[[nodiscard]] admin::DeploymentCheck judge(std::vector<runtime::SurveyedNode> nodes,
                                           const ClientOptions& options);

/// Whether a node with this finding can be opened: a problem that
/// neither a quarantine nor waiting resolves must be gone, because an opened node votes at once.
[[nodiscard]] bool forbids_opening(admin::Finding::Kind kind) noexcept;

}  // namespace redlock::api
