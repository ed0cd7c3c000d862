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
    {FindingKind::unreachable, FindingLevel::warning},
    {FindingKind::auth, FindingLevel::warning},
    {FindingKind::duplicate, FindingLevel::warning},
    {FindingKind::replica, FindingLevel::warning},
    {FindingKind::cluster, FindingLevel::warning},
    {FindingKind::sentinel, FindingLevel::warning},
    {FindingKind::evicting, FindingLevel::warning},
    {FindingKind::loading, FindingLevel::warning},
    {FindingKind::old_version, FindingLevel::warning},
    // Somebody relies on the server's disk: the guard is off, or trusts the server to be durable.
    {FindingKind::not_durable, FindingLevel::critical},
    {FindingKind::clock, FindingLevel::warning},
    {FindingKind::fencing_floor, FindingLevel::warning},
    {FindingKind::replicas, FindingLevel::warning},
    {FindingKind::membership, FindingLevel::warning},
    {FindingKind::quarantined, FindingLevel::warning},
    {FindingKind::not_bootstrapped, FindingLevel::warning},
    {FindingKind::other_deployment, FindingLevel::warning},
    {FindingKind::stale_client, FindingLevel::warning},
    {FindingKind::tracking_table, FindingLevel::warning},
    {FindingKind::no_scripts, FindingLevel::warning},
    {FindingKind::forgetting_commands, FindingLevel::warning},
    {FindingKind::client_limit, FindingLevel::warning},
    {FindingKind::refuses_writes, FindingLevel::warning},
    {FindingKind::short_memory, FindingLevel::warning},
    {FindingKind::unreadable_marker, FindingLevel::warning},
    {FindingKind::reign, FindingLevel::warning},
    {FindingKind::missing_command, FindingLevel::warning},
    // Two primaries may each have a majority: two clients may hold one lock.
    {FindingKind::replica_migration, FindingLevel::critical},
};

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

std::size_t count_voters(const admin::DeploymentCheck& check) {
  return static_cast<std::size_t>(
      std::count_if(check.nodes.begin(), check.nodes.end(),
                    [](const admin::NodeCheck& node) { return node.votes; }));
}

Grants grants_of(const admin::DeploymentCheck& check, bool guarded) {
  constexpr std::chrono::nanoseconds now{0};
  const std::size_t voters = count_voters(check);
  Grants grants;
  grants.granted = voters >= check.quorum && (!guarded || check.granted_in == now);
  grants.text = check.members == 1
                    ? fmt::format("the node has {} vote", voters == 0 ? "no" : "a")
                    : fmt::format("{} of {} nodes {} a vote, {} are needed", voters, check.members,
                                  voters == 1 ? "has" : "have", check.quorum);
  if (grants.granted) return grants;
  // A quarantine that ends helps only if what else is missing does not keep the quorum away.
  if (check.granted_in && *check.granted_in > now && *check.granted_in != forever) {
    grants.text += "; locks are granted in " + format_duration(*check.granted_in);
  } else if (voters >= check.quorum) {
    grants.text += "; their votes do not count together";
  }
  return grants;
}

}  // namespace redlock::cli
