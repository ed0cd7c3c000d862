#include "api/deployment/finding_kinds.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace redlock::api {
namespace {

constexpr FindingKind kinds[] = {
    {admin::Finding::Kind::unreachable, "unreachable", true, true},
    {admin::Finding::Kind::auth, "auth", true, true},
    {admin::Finding::Kind::duplicate, "duplicate", true, true},
    {admin::Finding::Kind::replica, "replica", true, true},
    {admin::Finding::Kind::cluster, "cluster", true, true},
    {admin::Finding::Kind::sentinel, "sentinel", true, true},
    {admin::Finding::Kind::evicting, "evicting", true, true},
    {admin::Finding::Kind::loading, "loading", true, true},
    {admin::Finding::Kind::old_version, "version", true, false},
    {admin::Finding::Kind::not_durable, "not-durable", false, false},
    {admin::Finding::Kind::clock, "clock", false, true},
    {admin::Finding::Kind::fencing_floor, "fencing-floor", false, false},
    {admin::Finding::Kind::replicas, "replicas", false, false},
    {admin::Finding::Kind::membership, "membership", false, true},
    {admin::Finding::Kind::quarantined, "quarantined", false, true},
    {admin::Finding::Kind::not_bootstrapped, "not-bootstrapped", false, true},
    // Some of the nodes that the finding names may vote.
    {admin::Finding::Kind::other_deployment, "other-deployment", false, false},
    {admin::Finding::Kind::stale_client, "stale-client", false, false},
    {admin::Finding::Kind::tracking_table, "tracking-table", false, false},
    {admin::Finding::Kind::no_scripts, "no-scripts", true, true},
    {admin::Finding::Kind::forgetting_commands, "forgetting-commands", false, false},
    {admin::Finding::Kind::client_limit, "client-limit", false, false},
    {admin::Finding::Kind::refuses_writes, "refuses-writes", true, true},
    {admin::Finding::Kind::short_memory, "short-memory", false, false},
    {admin::Finding::Kind::unreadable_marker, "unreadable-marker", false, true},
    {admin::Finding::Kind::reign, "reign", false, true},
    {admin::Finding::Kind::missing_command, "missing-command", true, true},
    {admin::Finding::Kind::replica_migration, "replica-migration", false, false},
};

}  // namespace

const FindingKind& kind_of(admin::Finding::Kind kind) noexcept {
  const auto* const found =
      std::find_if(std::begin(kinds), std::end(kinds),
                   [kind](const FindingKind& row) { return row.kind == kind; });
  static constexpr FindingKind no_kind{{}, "unknown"};
  return found == std::end(kinds) ? no_kind : *found;
}

bool costs_vote_of(const admin::Finding& finding, std::string_view url) {
  if (!kind_of(finding.kind).costs_vote) return false;
  // A finding about several nodes has all URLs, separated by a comma and a blank.
  const std::string named = ", " + finding.node + ", ";
  const std::size_t at = named.find(", " + std::string(url) + ", ");
  if (at == std::string::npos) return false;
  return finding.kind != admin::Finding::Kind::duplicate || at > 0;
}

}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {

std::string_view to_string(Finding::Kind kind) noexcept { return api::kind_of(kind).id; }

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
