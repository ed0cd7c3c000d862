#include "common/session/json.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "common/session/holder_text.hpp"
#include "common/text/json_line.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

// Ordered, so that people find the outcome first.
using Json = nlohmann::ordered_json;

std::int64_t milliseconds(std::chrono::nanoseconds duration) {
  return std::chrono::floor<std::chrono::milliseconds>(duration).count();
}

std::int64_t microseconds(std::chrono::nanoseconds duration) {
  return std::chrono::round<std::chrono::microseconds>(duration).count();
}

/// Null: there is none.
Json token_or_null(const std::optional<Token>& token) {
  return token ? Json(as_utf8(token->view())) : Json(nullptr);
}

/// Kind null: the node did not say.
void add_holder(Json& json, const std::optional<Holder>& said) {
  const Holder holder = said.value_or(Holder());
  json["holder_kind"] = said ? Json(std::string(to_string(holder.kind))) : Json(nullptr);
  json["holder"] = token_or_null(holder.token);
  json["owner"] = text_or_null(holder.owner);
}

Json node_json(const NodeVote& node) {
  Json json{{"url", as_utf8(node.url)}, {"vote", std::string(to_string(node.vote))}};
  if (node.round_trip) json["rtt_us"] = microseconds(*node.round_trip);
  switch (node.vote) {
    case Vote::refused:
      add_holder(json, node.holder);
      if (node.remaining) json["remaining_ms"] = milliseconds(*node.remaining);
      break;
    case Vote::timeout:
    case Vote::unreachable:
    case Vote::error:
      json["message"] = as_utf8(node.message);
      break;
    case Vote::excluded:
      json["message"] = as_utf8(node.message);
      if (node.remaining) json["remaining_ms"] = milliseconds(*node.remaining);
      break;
    case Vote::granted:
    case Vote::pending:
      break;
  }
  return json;
}

/// Names and the queue; `Seen` is an inspection or that of one node.
template <typename Seen>
void add_people(Json& json, const Seen& seen) {
  json["holder_name"] = text_or_null(seen.holder_name);
  json["waiters"] = seen.waiters;
  json["next"] = text_or_null(seen.next ? seen.next->id : std::string());
  json["next_name"] = text_or_null(seen.next ? seen.next->name : std::string());
}

Json broken_locks(const std::vector<BrokenLock>& broken) {
  Json list = Json::array();
  for (const BrokenLock& each : broken) {
    list.push_back({{"time", utc_text(each.time)},
                    {"by", as_utf8(each.by)},
                    {"token", as_utf8(each.token.view())}});
  }
  return list;
}

Json inspected_nodes(const Inspection& inspection) {
  Json nodes = Json::array();
  for (const NodeInspection& node : inspection.nodes) {
    Json json{{"url", as_utf8(node.url)}};
    if (!node.error.empty()) {
      json["message"] = as_utf8(node.error);
      nodes.push_back(std::move(json));
      continue;
    }
    json["kind"] = std::string(to_string(node.kind));
    json["holder"] = token_or_null(node.holder);
    json["owner"] = text_or_null(node.owner);
    if (node.holds > 0) json["holds"] = node.holds;
    for (const Token& token : node.tokens) json["tokens"].push_back(as_utf8(token.view()));
    for (const std::string& name : node.names) json["names"].push_back(as_utf8(name));
    add_people(json, node);
    // A key without expiry: -1, as Redis itself says it.
    const std::int64_t without = node.kind == LockKind::none ? 0 : -1;
    json["remaining_ms"] = node.remaining ? milliseconds(*node.remaining) : without;
    json["fencing_token"] = node.fencing_token ? Json(node.fencing_token->value()) : Json(nullptr);
    if (node.quarantine.count() > 0) json["quarantine_ms"] = wait_ms(node.quarantine);
    nodes.push_back(std::move(json));
  }
  return nodes;
}

Json outcome_of_subject(std::string_view outcome, const Subject& subject) {
  Json json{{"outcome", std::string(outcome)}, {"resource", as_utf8(subject.resource)}};
  for (const std::string& resource : subject.resources) {
    json["resources"].push_back(as_utf8(resource));
  }
  if (!subject.permit.empty()) json["permit"] = as_utf8(subject.permit);
  if (!subject.holder_name.empty()) json["holder_name"] = as_utf8(subject.holder_name);
  return json;
}

Json break_object(const BreakResult& result) {
  Json json{{"outcome", std::string(result.outcome)}, {"resource", as_utf8(result.resource)}};
  json["tokens"] = Json::array();
  for (const Token& token : result.tokens) json["tokens"].push_back(as_utf8(token.view()));
  json["delay_ms"] = milliseconds(result.delay);
  json["broken"] = broken_locks(result.inspection.broken);
  json["nodes"] = inspected_nodes(result.inspection);
  return json;
}

void add_round(Json& json, const Round& round, RoundKind kind) {
  if (kind == RoundKind::lease) {
    json["ttl_ms"] = milliseconds(round.ttl);
    json["remaining_ms"] = milliseconds(round.remaining);
  }
  if (round.holds_left) json["holds_left"] = *round.holds_left;
  json["elapsed_us"] = microseconds(round.elapsed);
  json["quorum"] = round.quorum;
  json["nodes"] = Json::array();
  for (const NodeVote& node : round.nodes) json["nodes"].push_back(node_json(node));
}

/// Who holds most of the nodes that refused, and for how long at most.
void add_holder(Json& json, const Round& round) {
  std::map<std::optional<Token>, std::size_t> nodes_of;
  std::optional<Token> leader;
  for (const NodeVote& vote : round.nodes) {
    if (vote.vote != Vote::refused || !vote.holder) continue;
    if (++nodes_of[vote.holder->token] > nodes_of[leader]) leader = vote.holder->token;
  }
  std::optional<std::chrono::nanoseconds> left;
  for (const NodeVote& vote : round.nodes) {
    const bool leads = vote.vote == Vote::refused && vote.holder && vote.holder->token == leader;
    if (leads && vote.remaining) left = std::max(left.value_or(*vote.remaining), *vote.remaining);
  }
  json["holder"] = token_or_null(leader);
  if (left) json["remaining_ms"] = milliseconds(*left);
}

/// As inspections name it.
std::string_view kind_name(const Target& target) {
  switch (target.kind()) {
    case Target::Kind::exclusive:
    case Target::Kind::all_of:
      return to_string(LockKind::exclusive);
    case Target::Kind::shared:
      return to_string(LockKind::shared);
    case Target::Kind::owned:
      return to_string(LockKind::owned);
    case Target::Kind::permit:
      return "semaphore";
  }
  return {};
}

}  // namespace

std::string round_json(std::string_view outcome, const Subject& subject,
                       const std::optional<Token>& token, const Round& round, RoundKind kind) {
  Json json = outcome_of_subject(outcome, subject);
  if (token) json["token"] = as_utf8(token->view());
  add_round(json, round, kind);
  if (kind == RoundKind::lease && (outcome == "held" || outcome == "split")) {
    add_holder(json, round);
  }
  return json_line(json);
}

std::string acquired_json(const Subject& subject, const Target& target, const Lease& lease) {
  Json json = outcome_of_subject("acquired", subject);
  json["kind"] = std::string(kind_name(target));
  if (!target.owner().empty()) json["owner"] = as_utf8(target.owner());
  json["token"] = as_utf8(lease.token().view());
  if (lease.fencing_token()) json["fencing_token"] = lease.fencing_token()->value();
  if (target.interval().count() > 0) {
    json["interval_ms"] = milliseconds(target.interval());
  }
  add_round(json, lease.round(), RoundKind::lease);
  return json_line(json);
}

namespace {

Json sighting(std::string_view resource, const Inspection& inspection) {
  Json json{{"resource", as_utf8(resource)},
            {"kind", std::string(to_string(inspection.kind))},
            {"state", std::string(to_string(inspection.state))}};
  json["holder"] = token_or_null(inspection.holder);
  json["owner"] = text_or_null(inspection.owner);
  json["delay"] = !delay_text(inspection.holder).empty();
  return json;
}

Json inspected(std::string_view resource, const Inspection& inspection) {
  Json json = sighting(resource, inspection);
  add_people(json, inspection);
  json["broken"] = broken_locks(inspection.broken);
  json["nodes"] = inspected_nodes(inspection);
  return json;
}

}  // namespace

std::string sighting_json(std::string_view resource, const Inspection& inspection) {
  return json_line(sighting(resource, inspection));
}

std::string inspection_json(std::string_view resource, const Inspection& inspection) {
  return json_line(inspected(resource, inspection));
}

std::string semaphore_json(std::string_view resource, const std::vector<PermitInspection>& permits,
                           std::size_t waiters) {
  const std::size_t held = count_taken(permits);
  Json json{{"resource", as_utf8(resource)},
            {"kind", "semaphore"},
            {"state", held < permits.size() ? "free" : "held"},
            {"permits", permits.size()},
            {"permits_held", held},
            {"waiters", waiters}};
  json["permit_states"] = Json::array();
  for (const PermitInspection& permit : permits) {
    json["permit_states"].push_back(inspected(permit.name, permit.inspection));
  }
  return json_line(json);
}

std::size_t count_taken(const std::vector<PermitInspection>& permits) {
  return static_cast<std::size_t>(
      std::count_if(permits.begin(), permits.end(), [](const PermitInspection& permit) {
        return permit.inspection.state != Inspection::State::free;
      }));
}

std::string leader_json(std::string_view election, const std::optional<Leader>& leader,
                        std::optional<FencingToken> term) {
  Json json{{"election", as_utf8(election)}};
  json["leader"] = leader ? Json(as_utf8(leader->candidate)) : Json(nullptr);
  json["token"] = leader ? Json(as_utf8(leader->token.view())) : Json(nullptr);
  if (term) json["term"] = term->value();
  return json_line(json);
}

std::string break_json(const BreakResult& result) { return json_line(break_object(result)); }

std::string breaks_json(std::string_view outcome, std::string_view pattern, std::string_view holder,
                        const std::vector<BreakResult>& results) {
  Json json{{"outcome", std::string(outcome)}};
  if (!pattern.empty()) json["pattern"] = as_utf8(pattern);
  if (!holder.empty()) json["holder"] = as_utf8(holder);
  json["locks"] = Json::array();
  for (const BreakResult& result : results) json["locks"].push_back(break_object(result));
  return json_line(json);
}

std::optional<std::string_view> outcome_of(Errc errc) noexcept {
  switch (errc) {
    case Errc::held:
    case Errc::split:
    case Errc::unavailable:
    case Errc::expired:
    case Errc::excluded:
    case Errc::not_holder:
      return to_string(errc);
    case Errc::cancelled:
    case Errc::closed:
    case Errc::forked:
    case Errc::would_block:
    case Errc::invalid_argument:
    case Errc::limit_reached:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace redlock::cli
