#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "quorum-lock/holder_text.hpp"
#include "quorum-lock/json.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/verdict.hpp"

namespace redlock::cli {
namespace {

/// Who holds it instead, as refusals of `acquire` say.
Result<RoundReport> name_holder(Client& client, const std::string& resource,
                                Result<RoundReport> round) {
  if (round || round.error().code != Errc::not_holder) return round;
  const Result<Inspection> seen = client.inspect(resource);
  if (!seen || count_answered(*seen) < seen->quorum) return round;
  const std::string holder = holder_text(*seen);
  round.error().message += "; " + (holder.empty() ? "nobody holds it" : holder);
  return round;
}

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
                      name_holder(*client, resource, client->extend(resource, token, *ttl)));
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
                      name_holder(*client, resource, client->release(resource, token)));
}

}  // namespace redlock::cli
