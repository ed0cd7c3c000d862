#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "quorum-lock/held_command.hpp"
#include "quorum-lock/lock_target.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"

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
  request.max_hold = given.positive_duration("max-hold");
  request.max_renewals = given.number("max-renewals");
  request.kill_after = given.duration("kill-after");
  request.metrics = metrics_targets_of(given);
  return run_under_lock(request, signals);
}

}  // namespace redlock::cli
