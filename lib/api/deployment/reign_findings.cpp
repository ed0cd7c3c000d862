#include "api/deployment/reign_findings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/membership/member_change.hpp"
#include "core/membership/reign.hpp"
#include "core/nodes/reign.hpp"
#include "redlock/limits.hpp"
#include "runtime/survey_facts.hpp"

namespace redlock::api {
namespace {

using runtime::SurveyedNode;
using std::chrono::milliseconds;

core::ReignReading reading_of(const SurveyedNode& node) {
  core::ReignReading reading;
  // A record of another server process came with that server's data.
  if (!node.seen.restarted) reading.record = node.reign->record;
  reading.acknowledged = node.reign->acknowledged;
  reading.attachments = node.reign->attachments;
  reading.attached = node.reign->in_step;
  return reading;
}

/// As a client knows it after this reading.
struct Judged {
  explicit Judged(const SurveyedNode& node) : reign(core::servers_of(node.seen.url), version) {
    const core::Marker marker = node.marker.value_or(core::Marker());
    const core::ReignReading reading = reading_of(node);
    reign.met(reading.record, marker, {}, core::Instant());
    static_cast<void>(reign.take(reading, marker, core::Instant()));
  }
  core::VoteVersion version{};
  core::Reign reign;
};

admin::Finding finding(const SurveyedNode& node, admin::Finding::Kind kind, std::string what,
                       std::string why, std::string remedy) {
  return {node.seen.url, kind, std::move(what), std::move(why), std::move(remedy)};
}

std::string capitalised(std::string text) {
  if (text.starts_with("it")) text.front() = 'I';
  return text;
}

admin::Finding refused(const SurveyedNode& node) {
  const std::string& error = node.reign->error;
  const std::string what =
      "It refused a command that votes of a primary with replicas need: " + node.reign->refused +
      ": " + error + '.';
  if (runtime::is_denial(error)) {
    return finding(node, admin::Finding::Kind::auth, what,
                   "Clients with these credentials get no vote from it.",
                   "Give the user all rights of Permissions in REFERENCE.md, with ACL SETUSER, on "
                   "each server of the service: a replica does not copy users.");
  }
  return finding(node, admin::Finding::Kind::missing_command, what,
                 "It cannot show whether a majority of its servers follows, so it has no vote.",
                 "Use a service that has these commands, or a server without replicas.");
}

constexpr const char* why_followers =
    "Its votes count only while a majority of its servers has followed its primary: the others "
    "could have made another one the primary.";

}  // namespace

std::string primary_of(const SurveyedNode& node) {
  const std::string address =
      node.reign && !node.reign->seen.empty() ? node.reign->seen.front().address : std::string();
  return address.empty() ? "its primary" : "its primary, " + address + ',';
}

std::string bring_others_back(const SurveyedNode& node) {
  std::string primary;
  std::string followers;
  std::size_t count = 0;
  for (const admin::ServerCheck& server :
       node.reign ? node.reign->seen : std::vector<admin::ServerCheck>()) {
    if (server.primary) {
      primary = server.address;
    } else if (!server.address.empty()) {
      followers += (count++ == 0 ? "" : ", ") + server.address;
    }
  }
  if (primary.empty() || count == 0) {
    return "See INFO replication there, and bring the other servers back.";
  }
  const bool misses_one = count + 2 == core::servers_of(node.seen.url);
  return primary + " is the primary, and " + followers + (count == 1 ? " follows" : " follow") +
         ": bring the other " + (misses_one ? "server" : "servers") + " back.";
}

std::optional<admin::ReignCheck> check_reign(const SurveyedNode& node) {
  if (!node.reign) return std::nullopt;
  admin::ReignCheck check;
  check.servers = core::servers_of(node.seen.url);
  check.seen = node.reign->seen;
  if (!node.reign->refused.empty()) {
    check.why_not = "it refused " + node.reign->refused;
    return check;
  }
  const Judged judged(node);
  const core::Reign& reign = judged.reign;
  check.stands = reign.stands();
  check.why_not = reign.why_not();
  check.acknowledged = node.reign->acknowledged;
  check.needed = reign.needed();
  if (reign.record()) {
    check.attached = reign.moved();
    const auto age =
        node.time.value_or(reign.record()->confirmed_at) - reign.record()->confirmed_at;
    check.confirmed_for = std::clamp<std::chrono::microseconds>(age, {}, limits::longest_max_ttl);
  } else if (check.why_not.empty()) {
    check.why_not = "no client has confirmed it";
  }
  return check;
}

std::optional<admin::Finding> judge_reign(const SurveyedNode& node) {
  if (!node.reign || !node.refuses_writes.empty() || !node.denied.empty()) return std::nullopt;
  if (!node.reign->refused.empty()) return refused(node);
  const Judged judged(node);
  const core::Reign& reign = judged.reign;
  if (reign.stands()) return std::nullopt;
  const core::ReignReading reading = reading_of(node);
  const std::string primary = primary_of(node);
  if (reign.has_too_many(reading)) {
    return finding(node, admin::Finding::Kind::reign, capitalised(reign.why_not()) + '.',
                   "It has no vote: two majorities of so few servers could have none in common, "
                   "and each could have a primary.",
                   "See INFO replication there. Detach what is no server of the service, or "
                   "correct ?servers= everywhere: A primary with replicas, in cloud.md, says how.");
  }
  if (!reign.has_enough(reading)) {
    return finding(node, admin::Finding::Kind::reign, capitalised(reign.why_not()) + '.',
                   why_followers,
                   "Bring the other servers back as replicas of " + primary +
                       " and wait until INFO replication there shows them online.");
  }
  const bool open = node.marker && node.marker->state == core::Marker::State::active;
  if (!open) return std::nullopt;
  if (reign.record()) {
    return finding(
        node, admin::Finding::Kind::reign,
        "Replicas attached anew, and it is not known whether a majority has followed " + primary +
            " all the time.",
        why_followers,
        "Ask for a lock with any client (for example: quorum-lock run reign -- sleep 1). "
        "It counts again, and if need be lets max TTL pass.");
  }
  return finding(node, admin::Finding::Kind::reign,
                 capitalised(primary) +
                     " is new, and no client has asked for a lock since: its "
                     "quarantine has not begun.",
                 "A lock that the one before has granted may still be held, so it has no vote for "
                 "max TTL from then on.",
                 "Ask for a lock with any client (for example: quorum-lock run reign -- sleep 1), "
                 "then wait until the quarantine has ended.");
}

milliseconds until_reign(const SurveyedNode& node) {
  if (!node.reign) return {};
  const Judged judged(node);
  if (node.reign->refused.empty() && judged.reign.stands()) return {};
  const bool can_stand = node.reign->refused.empty() && judged.reign.has_enough(reading_of(node));
  if (!can_stand || !node.marker) return milliseconds::max();
  return core::quarantine_for(node.marker->max_ttl, {});
}

}  // namespace redlock::api
