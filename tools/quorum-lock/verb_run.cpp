#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "quorum-lock/held_command.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "redlock/limits.hpp"

namespace redlock::cli {
namespace {

std::string list_of(const std::vector<std::string>& resources) {
  std::string all;
  for (const std::string& resource : resources) all += (all.empty() ? "" : " ") + resource;
  return all;
}

/// Which of them were given, where at most one may be.
void refuse_together(const Arguments& given, std::initializer_list<const char*> names) {
  const char* first = nullptr;
  for (const char* name : names) {
    if (!given.flag(name) && given.find(name) == nullptr) continue;
    if (first != nullptr)
      throw UsageError(fmt::format("--{}: not together with --{}", name, first));
    first = name;
  }
}

std::chrono::nanoseconds hold_at_least(const Arguments& given) {
  const auto span = given.positive_duration("at-least").value_or(std::chrono::nanoseconds::zero());
  if (span > limits::longest_max_ttl) {
    throw UsageError(fmt::format("--at-least: at most {} h is allowed",
                                 std::chrono::hours(limits::longest_max_ttl).count()));
  }
  return span;
}

/// Options that cannot be combined are refused, one line each.
Target target_of(const Arguments& given) {
  refuse_together(given, {"shared", "owner", "permits"});
  for (const char* name : {"shared", "owner"}) refuse_together(given, {name, "at-least"});
  for (const char* name : {"shared", "owner", "permits"}) refuse_together(given, {name, "fencing"});
  const std::vector<std::string> resources = resources_of(given);
  if (resources.size() > 1) {
    for (const char* name : {"shared", "owner", "permits", "orphan-ttl"}) {
      if (!given.flag(name) && given.find(name) == nullptr) continue;
      throw UsageError(fmt::format("--{}: not with several resources ('{}' is a second one)", name,
                                   as_printable(resources[1])));
    }
    return all_of(resources, hold_at_least(given));
  }
  const std::string& resource = resources.front();
  if (given.flag("shared")) return shared(resource);
  if (std::string owner = name_of(given, "owner"); !owner.empty()) return owned(resource, owner);
  if (const auto permits = given.number("permits", 1, limits::permits)) {
    return permit(resource, *permits, hold_at_least(given));
  }
  return interval(resource, hold_at_least(given));
}

LockTerms terms_of(const Arguments& given, const Settings& settings) {
  LockTerms terms;
  terms.ttl = ttl_of(given, settings).value_or(default_ttl(settings));
  terms.wait = given.duration("wait").value_or(std::chrono::seconds{30});
  terms.fencing = given.flag("fencing");
  terms.orphan_ttl = orphan_ttl_of(given, settings);
  return terms;
}

}  // namespace

int verb_run(const Arguments& given, const Signals& signals) {
  Settings settings = resolve_settings(given, NodesNeeded::required);
  HeldCommand request{.settings = std::move(settings), .target = target_of(given)};
  request.terms = terms_of(given, request.settings);
  request.resource = list_of(given.words);
  request.command = given.command;
  if (request.command.empty() || request.command.front().empty()) {
    throw UsageError("COMMAND: none given, as in: run RESOURCE COMMAND");
  }
  request.max_hold = given.positive_duration("max-hold");
  request.max_renewals = given.number("max-renewals", 0, UINT64_MAX);
  request.kill_after = given.duration("kill-after");
  request.metrics = metrics_targets_of(given);
  return run_under_lock(request, signals);
}

}  // namespace redlock::cli
