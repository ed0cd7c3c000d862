#include <chrono>
#include <string_view>

#include "quorum-lock/json.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"

namespace redlock::cli {
namespace {

int report_round(const Settings& settings, std::string_view outcome, const std::string& resource,
                 const Token& token, RoundKind kind, const Result<RoundReport>& round) {
  if (!round) return report_failure(settings, resource, round.error(), kind);
  return print_result(
      settings.format == Settings::Format::json
          ? round_json(outcome, resource, token, *round, kind)
          : round_text(Style::of_standard_output(), settings, outcome, resource, *round));
}

}  // namespace

int verb_extend(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const Token token = token_of(given);
  const auto ttl = ttl_of(given, settings);
  if (!ttl) throw UsageError("--ttl: missing: how long the lock shall stay, for example 10s");

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  return report_round(settings, "extended", resource, token, RoundKind::lease,
                      client->extend(resource, token, *ttl));
}

int verb_release(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  const std::string resource = resource_of(given);
  const Token token = token_of(given);

  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, resource, client.error());
  return report_round(settings, "released", resource, token, RoundKind::release,
                      client->release(resource, token));
}

}  // namespace redlock::cli
