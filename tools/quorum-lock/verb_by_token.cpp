#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quorum-lock/holder_text.hpp"
#include "quorum-lock/json.hpp"
#include "quorum-lock/lock_target.hpp"
#include "quorum-lock/output.hpp"
#include "quorum-lock/session.hpp"
#include "quorum-lock/settings.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/verdict.hpp"

namespace redlock::cli {
namespace {

/// What a token is said to hold.
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

/// As a refusal says it.
std::optional<Holder> holder_in(const NodeInspection& node) {
  switch (node.kind) {
    case LockKind::none:
      return std::nullopt;
    case LockKind::exclusive:
      return Holder{Holder::Kind::exclusive, node.holder};
    case LockKind::shared:
      return Holder{Holder::Kind::shared};
    case LockKind::owned:
      return Holder{Holder::Kind::owned, std::nullopt, node.owner};
    case LockKind::interval:
      return Holder{Holder::Kind::interval};
    case LockKind::reserved:
      return Holder{Holder::Kind::reserved};
    case LockKind::other:
      return Holder{Holder::Kind::other};
  }
  return std::nullopt;
}

/// As the votes of a round, for a call that was not made because too few nodes answered.
Error unavailable(const std::string& resource, const Inspection& inspection) {
  Error error{Errc::unavailable, too_few_answered(resource, inspection), {}};
  error.round.quorum = inspection.quorum;
  std::vector<NodeReport> reports;
  for (const NodeInspection& node : inspection.nodes) {
    NodeReport report;
    report.url = node.url;
    report.vote = node.error.empty() ? Vote::refused : Vote::unreachable;
    report.holder = holder_in(node);
    report.remaining = node.remaining;
    report.message = node.error;
    reports.push_back(std::move(report));
  }
  error.round.nodes = std::move(reports);
  return error;
}

/// The permit that the token holds; a token is never on two.
Result<std::string> find_permit(Client& client, const Claimed& claimed) {
  std::optional<Error> undecided;
  for (std::uint64_t i = 0; i < *claimed.permits; ++i) {
    const std::string name = fmt::format("{}#{}", claimed.resources.front(), i);
    const Result<Inspection> seen = client.inspect(name);
    if (!seen) return seen.error();
    const bool is_it =
        std::any_of(seen->nodes.begin(), seen->nodes.end(), [&](const NodeInspection& node) {
          return node.kind == LockKind::exclusive && node.holder == claimed.token;
        });
    if (is_it) return name;
    if (!undecided && count_answered(*seen) < seen->quorum) undecided = unavailable(name, *seen);
  }
  if (undecided) return *std::move(undecided);
  return Error{Errc::not_holder,
               fmt::format("not the holder: none of the {} permits of '{}' has this token",
                           *claimed.permits, claimed.resources.front()),
               {}};
}

/// Who holds it instead, as refusals of `acquire` say.
Result<RoundReport> name_holder(Client& client, const std::string& resource,
                                Result<RoundReport> round) {
  if (round || round.error().code != Errc::not_holder) return round;
  const Result<Inspection> seen = client.inspect(resource);
  if (!seen || count_answered(*seen) < seen->quorum) return round;
  const std::string holder = holder_text(*seen);
  if (holder.empty() && seen->state != Inspection::State::free) return round;
  round.error().message += "; " + (holder.empty() ? "nobody holds it" : holder);
  return round;
}

/// Makes the call, and reports what came of it.
template <typename Call>
int call_by_token(const Settings& settings, Claimed& claimed, std::string_view outcome,
                  RoundKind kind, const Signals& signals, Call call) {
  Session session(settings, signals);
  const EndOnSignal end_on_signal(signals, session);
  Result<Client> client = session.connect();
  if (!client) return report_failure(settings, claimed.subject, client.error(), kind);
  Target target = all_of(claimed.resources);
  if (claimed.permits) {
    Result<std::string> found = find_permit(*client, claimed);
    if (!found) return report_failure(settings, claimed.subject, found.error(), kind);
    claimed.subject.permit = *found;
    target = *std::move(found);
  }
  const std::string first = target.resource();
  const Result<RoundReport> round = name_holder(*client, first, call(*client, std::move(target)));
  if (!round) return report_failure(settings, claimed.subject, round.error(), kind);
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

int verb_release(const Arguments& given, const Signals& signals) {
  const Settings settings = resolve_settings(given, NodesNeeded::required);
  Claimed claimed = claimed_by(given);
  return call_by_token(settings, claimed, "released", RoundKind::release, signals,
                       [&](Client& client, Target target) {
                         return client.release(std::move(target), claimed.token);
                       });
}

}  // namespace redlock::cli
