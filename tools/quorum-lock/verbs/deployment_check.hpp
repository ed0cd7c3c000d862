#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "common/session/output.hpp"
#include "quorum-lock/verbs/finding_changes.hpp"
#include "quorum-lock/verbs/finding_levels.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {

/// The state of a node in a word or two, the most important one first.
[[nodiscard]] std::string state_of(const admin::NodeCheck& node);
/// The server and its version, as the server names itself; empty: it did not say.
[[nodiscard]] std::string server_text(const admin::NodeCheck& node);

/// The output of `doctor`. A value that a node did not report is null in the JSON; a quarantine
/// without an end is -1, as in Redis.
[[nodiscard]] std::string check_json(const admin::DeploymentCheck& check);
/// The text of `doctor`; with --quiet only the problems.
[[nodiscard]] std::string check_text(const Style& style, const Settings& settings,
                                     const admin::DeploymentCheck& check, const Grants& grants);
/// The output of `doctor --watch`: what has changed since the previous check.
[[nodiscard]] std::string change_text(const Style& style, const Settings& settings,
                                      const admin::DeploymentCheck& check, const Grants& grants,
                                      const FindingChanges::Change& change,
                                      std::chrono::system_clock::time_point time);

/// The output of `bootstrap`.
[[nodiscard]] std::string opened_json(const admin::DeploymentCheck& check);
[[nodiscard]] std::string opened_text(const Style& style, const Settings& settings,
                                      const admin::DeploymentCheck& check);
[[nodiscard]] std::string refused_json(std::string_view message);

}  // namespace redlock::cli
