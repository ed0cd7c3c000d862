#include "quorum-lock/verbs/finding_levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "common/text/duration.hpp"

namespace redlock::cli {
namespace {

using FindingKind = admin::Finding::Kind;

constexpr FindingRow level_rows[] = {
    {FindingKind::unreachable, FindingLevel::warning, true},
    {FindingKind::auth, FindingLevel::warning, true},
    {FindingKind::duplicate, FindingLevel::warning, true},
    {FindingKind::replica, FindingLevel::warning, true},
    {FindingKind::cluster, FindingLevel::warning, true},
    {FindingKind::sentinel, FindingLevel::warning, true},
    {FindingKind::evicting, FindingLevel::warning, true},
    {FindingKind::loading, FindingLevel::warning, true},
    {FindingKind::old_version, FindingLevel::warning, false},
    // Somebody relies on the server's disk: the guard is off, or trusts the server to be durable.
    {FindingKind::not_durable, FindingLevel::critical, false},
    {FindingKind::clock, FindingLevel::warning, true},
    {FindingKind::fencing_floor, FindingLevel::warning, false},
    {FindingKind::replicas, FindingLevel::warning, false},
    {FindingKind::membership, FindingLevel::warning, true},
    {FindingKind::quarantined, FindingLevel::warning, true},
    {FindingKind::not_bootstrapped, FindingLevel::warning, true},
    // Some of the nodes that the finding names may vote; their membership shows which.
    {FindingKind::other_deployment, FindingLevel::warning, false},
    // Two clients with different lists can both be granted a lock.
    {FindingKind::stale_client, FindingLevel::critical, false},
    {FindingKind::tracking_table, FindingLevel::warning, false},
    {FindingKind::no_scripts, FindingLevel::warning, true},
    {FindingKind::forgetting_commands, FindingLevel::warning, false},
    {FindingKind::client_limit, FindingLevel::warning, false},
};

/// A finding about several nodes has all URLs, separated by a comma and a blank.
bool names_node(const admin::Finding& finding, const std::string& url) {
  return (", " + finding.node + ", ").find(", " + url + ", ") != std::string::npos;
}

bool costs_vote_of(const admin::Finding& finding, const std::string& url) {
  if (!finding_row_of(finding.kind).costs_vote || !names_node(finding, url)) return false;
  const bool first = finding.node == url || finding.node.starts_with(url + ", ");
  return finding.kind != FindingKind::duplicate || !first;
}

}  // namespace

std::string_view to_string(FindingLevel level) noexcept {
  return level == FindingLevel::critical ? "critical" : "warning";
}

std::span<const FindingRow> finding_rows() noexcept { return level_rows; }

const FindingRow& finding_row_of(FindingKind kind) noexcept {
  const auto* const found =
      std::find_if(std::begin(level_rows), std::end(level_rows),
                   [kind](const FindingRow& row) { return row.kind == kind; });
  return found == std::end(level_rows) ? level_rows[0] : *found;
}

std::size_t count_voters(const admin::DeploymentCheck& check, bool guarded) {
  const auto votes = [&](const admin::NodeCheck& node) {
    const bool member = node.membership == admin::MemberReport::State::member;
    return node.reachable && !node.run_id.empty() && (member || !guarded) &&
           std::none_of(
               check.findings.begin(), check.findings.end(),
               [&](const admin::Finding& finding) { return costs_vote_of(finding, node.url); });
  };
  return static_cast<std::size_t>(std::count_if(check.nodes.begin(), check.nodes.end(), votes));
}

Grants grants_of(const admin::DeploymentCheck& check, std::size_t quorum, bool guarded) {
  constexpr std::chrono::nanoseconds now{0};
  const std::size_t voters = count_voters(check, guarded);
  Grants grants;
  grants.granted = voters >= quorum && (!guarded || check.granted_in == now);
  grants.text = fmt::format("{} of {} nodes have a vote, {} {} needed", voters, check.nodes.size(),
                            quorum, quorum == 1 ? "is" : "are");
  if (grants.granted) return grants;
  if (check.granted_in && *check.granted_in > now && *check.granted_in != forever) {
    grants.text += "; locks are granted in " + format_duration(*check.granted_in);
  } else if (voters >= quorum) {
    grants.text += "; their votes do not count together";
  }
  return grants;
}

}  // namespace redlock::cli
