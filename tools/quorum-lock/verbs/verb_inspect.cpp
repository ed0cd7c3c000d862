#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/holder_text.hpp"
#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/session/verdict.hpp"
#include "common/text/glob.hpp"
#include "common/text/reasons.hpp"
#include "common/text/text.hpp"
#include "quorum-lock/verbs/verb.hpp"
#include "redlock/listing.hpp"

namespace redlock::cli {

std::size_t count_answered(const Inspection& inspection) {
  return static_cast<std::size_t>(
      std::count_if(inspection.nodes.begin(), inspection.nodes.end(),
                    [](const NodeInspection& node) { return node.error.empty(); }));
}

std::string too_few_answered(const std::string& resource, const Inspection& inspection) {
  const std::size_t answered = count_answered(inspection);
  Reasons reasons;
  for (const NodeInspection& node : inspection.nodes) {
    if (!node.error.empty()) reasons.add(node.url, node.error);
  }
  return fmt::format("unavailable: {} of {} answered for '{}', {}; {}", answered,
                     counted(inspection.nodes.size(), "node"), resource,
                     answered < inspection.quorum ? fmt::format("{} needed", inspection.quorum)
                                                  : std::string("and it depends on the others"),
                     reasons.text());
}

namespace {

/// Inspects every permit, because each is a lock of its own.
int inspect_permits(Client& client, const Settings& settings, const std::string& resource,
                    std::uint64_t count) {
  std::vector<PermitInspection> permits;
  std::string problem;
  std::size_t waiters = count_waiters_for_any(client, resource);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("{}#{}", resource, i);
    Result<Inspection> inspection = client.inspect(name);
    if (!inspection) return report_failure(settings, resource, inspection.error());
    if (problem.empty() && count_answered(*inspection) < inspection->quorum) {
      problem = too_few_answered(name, *inspection);
    }
    waiters = std::max<std::size_t>(waiters, inspection->waiters);
    permits.push_back({name, *std::move(inspection)});
  }
  const bool json = settings.format == Settings::Format::json;
  if (!problem.empty() && !json) {
    print_error(problem);
    return code(ExitCode::unavailable);
  }
  const int printed =
      print_result(json ? semaphore_json(resource, permits, waiters)
                        : semaphore_text(Style::of_standard_output(), resource, permits, waiters));
  if (problem.empty()) return printed;
  print_error(problem);
  return code(ExitCode::unavailable);
}

/// Advice for a user who has left out --permits; empty: the resource has no permits. A semaphore
/// stores nothing under its own name, and looks free.
std::string advice_on_permits(const ClientOptions& client, const std::string& resource) {
  admin::ListOptions options;
  options.pattern = escaped_glob(resource);
  const Result<admin::LockList> list = list_locks(client, options);
  if (!list) return {};
  for (const admin::ListedLock& lock : list->locks) {
    if (lock.resource != resource || lock.permits.value_or(0) == 0) continue;
    return fmt::format(
        "'{}' is a semaphore, and {} of its permits {} held: add --permits N to see them",
        as_printable(resource), *lock.permits, *lock.permits == 1 ? "is" : "are");
  }
  return {};
}

}  // namespace

int verb_inspect(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const auto permits = given.number("permits");

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  if (permits) return inspect_permits(*client, settings, resource, *permits);
  const Result<Inspection> inspection = client->inspect(resource);
  if (!inspection) return report_failure(settings, resource, inspection.error());

  const int printed =
      print_result(settings.format == Settings::Format::json
                       ? inspection_json(resource, *inspection)
                       : inspection_text(Style::of_standard_output(), resource, *inspection));
  if (inspection->state == Inspection::State::indeterminate) {
    print_error(too_few_answered(resource, *inspection));
    return code(ExitCode::unavailable);
  }
  const bool looks_free =
      inspection->state == Inspection::State::free && inspection->kind == LockKind::none;
  const bool is_shown =
      settings.format == Settings::Format::people && settings.detail != Settings::Detail::quiet;
  if (looks_free && is_shown) {
    const std::string advice =
        advice_on_permits(client_options(settings, session.nodes()), resource);
    if (!advice.empty()) print_note(settings, advice);
  }
  return printed;
}

}  // namespace redlock::cli
