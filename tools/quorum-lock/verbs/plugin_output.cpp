#include "quorum-lock/verbs/plugin_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "common/text/text.hpp"
#include "quorum-lock/verbs/finding_levels.hpp"

namespace redlock::cli {
namespace {

enum class PluginState { ok, warning, critical, unknown };

/// The text without the bar, at which performance data begin, and without line ends.
std::string in_plugin_line(std::string_view text) {
  std::string line = as_printable(text);
  std::replace(line.begin(), line.end(), '|', '/');
  return line;
}

PluginOutput plugin_line(PluginState state, std::string_view text, std::string_view figures = {}) {
  constexpr std::string_view words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  return {static_cast<int>(state),
          fmt::format("REDLOCK {} - {}{}{}\n", words[static_cast<int>(state)], in_plugin_line(text),
                      figures.empty() ? "" : "|", figures)};
}

std::string found_text(const std::vector<admin::Finding>& findings) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < most; ++i) {
    fmt::format_to(std::back_inserter(text), "; {} {}: {}", to_string(findings[i].kind),
                   findings[i].node, findings[i].what);
  }
  if (findings.size() > most) {
    fmt::format_to(std::back_inserter(text), "; and {} more", findings.size() - most);
  }
  return text;
}

}  // namespace

PluginOutput plugin_output(const admin::DeploymentCheck& check, bool guarded) {
  const std::size_t nodes = check.members;
  const std::size_t voters = count_voters(check);
  std::size_t reachable = 0;
  std::chrono::nanoseconds slowest{0};
  for (const admin::NodeCheck& node : check.nodes) {
    reachable += node.reachable ? 1U : 0U;
    slowest = std::max(slowest, node.round_trip);
  }
  const Grants grants = grants_of(check, guarded);
  const std::string text = grants.text + found_text(check.findings);
  const std::string figures = fmt::format(
      "nodes={0};;;0; voters={1};{0}:;{2}:;0;{0} reachable={3};;;0;{0} problems={4};;;0; "
      "rtt={5}us;;;0;",
      nodes, voters, check.quorum, reachable, check.findings.size(),
      std::chrono::round<std::chrono::microseconds>(slowest).count());
  if (reachable == 0)
    return plugin_line(PluginState::unknown, "no node can be reached" + found_text(check.findings),
                       figures);
  const bool in_danger =
      std::any_of(check.findings.begin(), check.findings.end(), [](const admin::Finding& finding) {
        return finding_row_of(finding.kind).level == FindingLevel::critical;
      });
  if (!grants.granted || in_danger) return plugin_line(PluginState::critical, text, figures);
  return plugin_line(check.findings.empty() ? PluginState::ok : PluginState::warning, text,
                     figures);
}

PluginOutput plugin_unknown(std::string_view why) { return plugin_line(PluginState::unknown, why); }

}  // namespace redlock::cli
