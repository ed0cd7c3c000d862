#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "redlock/deployment.hpp"

namespace redlock::cli {

/// The output of monitoring plugins (Nagios, Icinga, and others that run their plugins), and their
/// exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.
struct PluginOutput {
  int exit_code = 0;
  std::string line{};  ///< with its line end
};

/// CRITICAL: too few nodes have a vote, or a finding is critical by its row. UNKNOWN: no node can
/// be reached from here. `guarded`: with the restart guard.
[[nodiscard]] PluginOutput plugin_output(const admin::DeploymentCheck& check, bool guarded);

/// The output if nothing was found out about the deployment.
[[nodiscard]] PluginOutput plugin_unknown(std::string_view why);

}  // namespace redlock::cli
