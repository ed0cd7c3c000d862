#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/session/json.hpp"
#include "common/session/output.hpp"
#include "common/session/session.hpp"
#include "common/session/settings.hpp"
#include "common/text/text.hpp"
#include "common/text/usage_error.hpp"
#include "quorum-lock/locks/by_token.hpp"
#include "quorum-lock/locks/lock_target.hpp"
#include "quorum-lock/verbs/verb.hpp"

namespace redlock::cli {
namespace {

/// The locks that a token holds, according to the user.
struct Claimed {
  std::vector<std::string> resources;
  std::optional<std::uint64_t> permits;
  Token token;
  Subject subject;
};

Claimed claimed_by(const Arguments& given) {
  Claimed claimed{resources_of(given), given.number("permits"), token_of(given),
                  subject_of(given.words)};
  if (claimed.permits && claimed.resources.size() > 1) {
    throw UsageError(fmt::format("--permits: not with several resources ('{}' is a second one)",
                                 as_printable(claimed.resources[1])));
  }
  return claimed;
}

/// Makes the call, and reports its result.
template <typename Call>
int call_by_token(const Settings& settings, Claimed& claimed, std::string_view outcome,
                  RoundKind kind, const Signals& signals, Call call) {
  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, claimed.subject, client.error(), kind);
  Target target = all_of(claimed.resources);
  if (claimed.permits) {
    Result<std::string> found =
        find_permit(*client, claimed.resources.front(), *claimed.permits, claimed.token);
    if (!found) return report_failure(settings, claimed.subject, found.error(), kind);
    claimed.subject.permit = *found;
    target = *std::move(found);
  }
  const std::string first = target.resource();
  Result<Round> round = call(*client, std::move(target));
  if (!round) {
    name_other_holder(*client, first, round.error());
    return report_failure(settings, claimed.subject, round.error(), kind);
  }
  return print_result(
      settings.format == Settings::Format::json
          ? round_json(outcome, claimed.subject, claimed.token, *round, kind)
          : round_text(Style::of_standard_output(), settings, outcome, claimed.subject, *round));
}

}  // namespace

int verb_extend(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  Claimed claimed = claimed_by(given);
  const auto ttl = ttl_of(given, settings);
  if (!ttl) throw UsageError("--ttl: missing: how long the lock shall stay, for example 10s");
  return call_by_token(settings, claimed, "extended", RoundKind::lease, signals,
                       [&](Client& client, Target target) {
                         return client.extend(std::move(target), claimed.token, *ttl);
                       });
}

int verb_downgrade(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  Claimed claimed = claimed_by(given);
  if (claimed.resources.size() > 1) {
    throw UsageError(fmt::format("RESOURCE: '{}' is a second one; one is allowed",
                                 as_printable(claimed.resources[1])));
  }
  return call_by_token(settings, claimed, "downgraded", RoundKind::release, signals,
                       [&](Client& client, const Target& target) {
                         return client.downgrade(target.resource(), claimed.token);
                       });
}

int verb_release(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  Claimed claimed = claimed_by(given);
  return call_by_token(settings, claimed, "released", RoundKind::release, signals,
                       [&](Client& client, Target target) {
                         return client.release(std::move(target), claimed.token);
                       });
}

}  // namespace redlock::cli
