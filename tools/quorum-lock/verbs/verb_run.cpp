#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/line/layers.hpp"
#include "quorum-lock/locks/lock_target.hpp"
#include "quorum-lock/supervise/held_command.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

LockTerms terms_of(const Arguments& given, const Settings& settings) {
  LockTerms terms;
  terms.ttl = ttl_of(given, settings).value_or(default_ttl(settings));
  terms.wait = wait_of(given).value_or(std::chrono::seconds{30});
  terms.fencing = given.flag("fencing");
  terms.orphan_ttl = orphan_ttl_of(given, settings);
  return terms;
}

std::string listed(const std::vector<std::string>& resources) {
  std::string list;
  for (const std::string& resource : resources) {
    list += (list.empty() ? "'" : " and '") + as_printable(resource) + '\'';
  }
  return list;
}

/// Whether the text names the same resources as the target, in any order. For a semaphore, the text
/// names the permit.
bool is_on(const DetachedLease& detached, const Target& target) {
  const std::vector<std::string>& resources = detached.resources;
  if (target.permits() > 0) {
    return resources.size() == 1 && resources.front().starts_with(target.resource() + '#');
  }
  std::set<std::string> named(target.more_resources().begin(), target.more_resources().end());
  named.insert(target.resource());
  return std::set<std::string>(resources.begin(), resources.end()) == named;
}

/// The lock of --adopt if the option has the whole text of a detached lease, which states its own
/// kind.
Adoption handed_on(DetachedLease detached, const Arguments& given, const Target& target) {
  if (!is_on(detached, target)) {
    throw UsageError(fmt::format("--adopt: the text is of a lease on {}: name that",
                                 listed(detached.resources)));
  }
  const bool has_kind = given.flag("shared") || given.find("owner") != nullptr;
  const bool same_kind = target.kind() == detached.kind && target.owner() == detached.owner;
  if (has_kind && !same_kind) {
    throw UsageError(
        "--adopt: the text is of a lease of another kind than --shared or --owner say");
  }
  if (given.number("fencing-token")) {
    throw UsageError(
        "--fencing-token: not together with the text of a detached lease, which has it");
  }
  Adoption adoption{std::move(detached), target.permits()};
  if (adoption.permits > 0) adoption.lease.resources = {target.resource()};
  return adoption;
}

/// The lock of --adopt. If it is only a token, the lock has the target's kind.
std::optional<Adoption> adoption_of(const Arguments& given, const Target& target) {
  const auto number = given.number("fencing-token");
  if (given.find("adopt") == nullptr) {
    if (number) throw UsageError("--fencing-token: only with --adopt, whose lock has it");
    return std::nullopt;
  }
  for (const NotForAdopted& each : not_for_adopted) {
    if (!given.asked_for(each.name)) continue;
    throw UsageError(fmt::format("--{}: not together with --adopt: {}", each.name, each.why));
  }
  if (given.asked_for("name")) {
    throw UsageError("--name: not together with --adopt: the lock keeps the name that it has");
  }
  if (auto detached = DetachedLease::parse(given.find("adopt")->text)) {
    return handed_on(*std::move(detached), given, target);
  }
  Adoption adoption;
  adoption.lease.token = token_of(given, "adopt");
  adoption.lease.resources = {target.resource()};
  const auto& more = target.more_resources();
  adoption.lease.resources.insert(adoption.lease.resources.end(), more.begin(), more.end());
  adoption.permits = target.permits();
  const bool has_several_holders =
      target.kind() == Target::Kind::shared || target.kind() == Target::Kind::owned;
  if (has_several_holders) adoption.lease.kind = target.kind();
  adoption.lease.owner = target.owner();
  if (number && (has_several_holders || adoption.permits > 0)) {
    throw UsageError("--fencing-token: not together with --shared, --owner and --permits");
  }
  if (number) adoption.lease.fencing_token = FencingToken(*number);
  return adoption;
}

/// What somebody may have meant whose second word is no program.
std::string meant_resources(const Arguments& given) {
  if (given.has_dashes || given.command.size() < 2) return {};
  return fmt::format("; several resources need --: run {} {} -- COMMAND",
                     as_printable(given.words.front()), as_printable(given.command.front()));
}

}  // namespace

int verb_run(const Arguments& given, const Signals& signals) {
  Settings settings = resolve_settings(given, NodesNeeded::required);
  HeldCommand request{.settings = std::move(settings), .target = target_of(given)};
  request.terms = terms_of(given, request.settings);
  request.subject = subject_of(given.words);
  request.command = given.command;
  if (request.command.empty() || request.command.front().empty()) {
    throw UsageError("COMMAND: none given, as in: run RESOURCE COMMAND");
  }
  request.if_not_found = meant_resources(given);
  request.adopted = adoption_of(given, request.target);
  request.max_hold = given.positive_duration("max-hold");
  request.max_renewals = given.number("max-renewals");
  request.kill_after = given.duration("kill-after");
  request.conflict_code = conflict_code_of(given);
  request.metrics = metrics_targets_of(given);
  request.status = status_target_of(given);
  request.status.name = request.settings.client.name;
  return run_under_lock(request, signals);
}

}  // namespace redlock::cli
