#include "runtime/explain.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/nodes/link.hpp"
#include "core/nodes/node_votes.hpp"
#include "core/vocabulary/durations.hpp"
#include "core/vocabulary/holder_words.hpp"
#include "redis/values/visible.hpp"
#include "redlock/inspection.hpp"
#include "redlock/token.hpp"
#include "support/counted.hpp"

namespace redlock::runtime {
namespace {

constexpr std::size_t shown_resource_bytes = 80;
constexpr std::size_t shown_holder_bytes = 12;

struct Count {
  std::size_t granted = 0, refused = 0, failed = 0, excluded = 0, pending = 0;
};

Count count(const Round& report) {
  Count count;
  for (const NodeVote& node : report.nodes) {
    switch (node.vote) {
      case Vote::pending:
        ++count.pending;
        break;
      case Vote::granted:
        ++count.granted;
        break;
      case Vote::refused:
        ++count.refused;
        break;
      case Vote::timeout:
      case Vote::unreachable:
      case Vote::error:
        ++count.failed;
        break;
      case Vote::excluded:
        ++count.excluded;
        break;
    }
  }
  return count;
}

std::string counted(const Round& report) {
  const Count votes = count(report);
  std::string text;
  const auto add = [&](const char* what, std::size_t number) {
    if (number == 0) return;
    if (!text.empty()) text += ", ";
    text += std::string(what) + ' ' + std::to_string(number);
  };
  add("granted", votes.granted);
  add("refused", votes.refused);
  add("failed", votes.failed);
  add("excluded", votes.excluded);
  add("not waited for", votes.pending);
  return text + " of " + std::to_string(report.nodes.size());
}

/// The beginning of a token or of a client's id.
std::string shortened(std::string_view id) {
  std::string text = redis::visible(id.substr(0, shown_holder_bytes));
  if (id.size() > shown_holder_bytes) text += "…";
  return text;
}

std::string short_token(const std::optional<Token>& token) {
  if (!token) return "unknown";
  return token->name().empty() ? shortened(token->view()) : redis::visible(token->name());
}

/// Whether the token is nobody's lease, but keeps everybody out after an operator broke one.
bool is_delay(const std::optional<Token>& token) { return token && token->is_delay(); }

std::string quoted_name(std::string_view resource) {
  return "'" + redis::visible(resource, shown_resource_bytes) + "'";
}

using Left = std::optional<std::chrono::nanoseconds>;

std::string in_brackets(std::string_view kind, const Left& left) {
  std::string text(kind);
  if (left) text += (text.empty() ? "" : ", ") + core::format_duration(*left) + " left";
  return text.empty() ? text : " (" + text + ")";
}

std::string free_in(const Left& left) {
  return left ? " and is free in " + core::format_duration(*left) : std::string();
}

std::string until_interval_is_over(const Left& left) {
  return "is not free: its interval is not over" + in_brackets("", left);
}

/// What the resource, the subject of the sentence, is.
std::string what_it_is(const std::optional<Holder>& holder, const Left& left) {
  if (!holder) return "is held by another client" + in_brackets("", left);
  switch (holder->kind) {
    case Holder::Kind::exclusive:
      if (is_delay(holder->token)) {
        return "was broken by " + short_token(holder->token) + free_in(left);
      }
      return "is held by " + short_token(holder->token) + in_brackets("exclusive", left);
    case Holder::Kind::shared:
      return "is held by readers" + in_brackets("", left);
    case Holder::Kind::owned:
      return "is held by owner " + redis::visible(holder->owner) + in_brackets("", left);
    case Holder::Kind::interval:
      return until_interval_is_over(left);
    case Holder::Kind::reserved:
      return "is reserved for the next client" + in_brackets("", left);
    case Holder::Kind::other:
      return "is a key that is not a lock" + in_brackets("", left);
    case Holder::Kind::writer:
      return "is held by readers, and a writer waits" + in_brackets("", left);
  }
  return {};
}

/// The holder on most nodes, and the longest time that it keeps any of them.
std::string about_holder(std::string_view resource, const Round& report, std::uint32_t permits) {
  // No node was asked: the caller knows who has it.
  if (report.nodes.empty()) return quoted_name(resource) + " is held";
  std::optional<Holder> leader;
  std::size_t most = 0;
  for (const NodeVote& node : report.nodes) {
    if (node.vote != Vote::refused) continue;
    const auto same = static_cast<std::size_t>(
        std::count_if(report.nodes.begin(), report.nodes.end(), [&](const NodeVote& other) {
          return other.vote == Vote::refused && other.holder == node.holder;
        }));
    if (same > most) {
      most = same;
      leader = node.holder;
    }
  }
  Left left;
  for (const NodeVote& node : report.nodes) {
    if (node.vote != Vote::refused || node.holder != leader || !node.remaining) continue;
    left = std::max(left.value_or(std::chrono::nanoseconds::zero()), *node.remaining);
  }
  if (permits > 0) {
    const std::string all =
        permits == 1 ? "the only permit" : "all " + std::to_string(permits) + " permits";
    return all + " of " + quoted_name(resource) + (permits == 1 ? " is held" : " are held") +
           in_brackets("", left);
  }
  return quoted_name(resource) + ' ' + what_it_is(leader, left);
}

/// Nodes that failed for one reason.
struct Failures {
  std::string_view reason;  ///< without the time that a quarantine still lasts
  const NodeVote* longest;  ///< the one that is quarantined for longest
  std::string urls;
};

std::string_view reason_of(const NodeVote& node) {
  const std::string_view message = node.message;
  const std::size_t colon = message.find(" more: ");
  // Two nodes with new primaries have two.
  const bool quarantined = node.remaining && message.starts_with("quarantined for ");
  return quarantined && colon != std::string_view::npos ? message.substr(colon) : message;
}

bool has_failed(const NodeVote& node) {
  return node.vote == Vote::timeout || node.vote == Vote::unreachable || node.vote == Vote::error ||
         node.vote == Vote::excluded;
}

/// A node that may be new belongs to no deployment: the message says only the first.
std::string without_repetition(std::string message) {
  const std::string repeated = "; " + std::string(core::no_deployment);
  const std::size_t at = message.find(repeated);
  if (at != std::string::npos && message.find(core::may_be_new) < at) {
    message.erase(at, repeated.size());
  }
  return message;
}

std::string about_failures(const Round& report) {
  std::vector<Failures> groups;
  for (const NodeVote& node : report.nodes) {
    if (!has_failed(node)) continue;
    const std::string_view reason = reason_of(node);
    const auto group = std::find_if(groups.begin(), groups.end(), [reason](const Failures& each) {
      return each.reason == reason;
    });
    if (group == groups.end()) {
      groups.push_back({reason, &node, node.url});
      continue;
    }
    group->urls += ", " + node.url;
    if (node.remaining > group->longest->remaining) group->longest = &node;
  }
  std::string text;
  for (const Failures& each : groups) {
    text += "; " + each.urls + ": " + without_repetition(each.longest->message);
  }
  return text;
}

/// The longest time left on any node that stores the same as most of them.
Left time_left(const Inspection& inspection) {
  Left left;
  for (const NodeInspection& node : inspection.nodes) {
    const bool leads = node.kind == inspection.kind && node.holder == inspection.holder &&
                       node.owner == inspection.owner;
    if (leads && node.remaining) left = std::max(left.value_or(*node.remaining), *node.remaining);
  }
  return left;
}

/// Whether nobody can join the holders, because an operator broke the lock of one of them.
std::string no_more(const Inspection& inspection) {
  for (const NodeInspection& node : inspection.nodes) {
    const auto delay = std::find_if(node.tokens.begin(), node.tokens.end(),
                                    [](const Token& token) { return token.is_delay(); });
    if (delay != node.tokens.end()) return ", no more: broken by " + short_token(*delay);
  }
  return {};
}

std::string_view holding(Inspection::State state) {
  switch (state) {
    case Inspection::State::split:
      return "is held on most nodes by ";
    case Inspection::State::indeterminate:
      return "is perhaps held by ";
    case Inspection::State::held:
    case Inspection::State::free:
      break;
  }
  return "is held by ";
}

/// What the resource, the subject of the sentence, is.
std::string what_it_is(const Inspection& inspection) {
  const auto called = [](const std::string& name, const std::string& otherwise) {
    return name.empty() ? otherwise : redis::visible(name);
  };
  const Left left = time_left(inspection);
  switch (inspection.kind) {
    case LockKind::none:
      return "is free now";
    case LockKind::exclusive:
      if (is_delay(inspection.holder)) break;
      return std::string(holding(inspection.state)) +
             called(inspection.holder_name, short_token(inspection.holder)) +
             in_brackets("exclusive", left);
    case LockKind::shared:
      return "is held by readers" + no_more(inspection) + in_brackets("", left);
    case LockKind::owned:
      return "is held by owner " + redis::visible(inspection.owner) + no_more(inspection) +
             in_brackets("", left);
    case LockKind::interval:
      return until_interval_is_over(left);
    case LockKind::reserved: {
      const NextClient next = inspection.next.value_or(NextClient());
      return "is reserved for " + called(next.name, shortened(next.id));
    }
    case LockKind::other:
      return "is a key that is not a lock" + in_brackets("", left);
  }
  return "was broken by " + short_token(inspection.holder) + free_in(left);
}

/// Whether `bootstrap` takes the node for a new one; none: not known, because the node was not
/// asked or not reached.
std::optional<bool> may_be_unused(const NodeVote& node) {
  const bool unknown = node.vote == Vote::pending || node.message == core::not_connected_yet ||
                       node.message == core::nobody_met_it;
  if (unknown) return std::nullopt;
  if (node.vote != Vote::excluded) return false;
  return node.message.find(core::may_be_new) != std::string::npos ||
         node.message == core::no_deployment;
}

/// Whether the reasons of the nodes say one time for which to wait.
bool is_said_once(const Round& report) {
  std::optional<std::string_view> said;
  for (const NodeVote& node : report.nodes) {
    if (node.vote != Vote::excluded || !node.remaining) continue;
    if (!node.message.starts_with("quarantined for ")) return false;
    if (said.value_or(reason_of(node)) != reason_of(node)) return false;
    said = reason_of(node);
  }
  return said.has_value();
}

/// Advice for a user whose nodes are new, or are quarantined and remembered.
std::string about_quarantine(const Round& report, const core::Outlook& outlook) {
  std::optional<std::chrono::nanoseconds> left;
  std::size_t lost = 0;
  std::size_t silent = 0;
  bool none_remembers = true;
  bool all_known = true;
  for (const NodeVote& node : report.nodes) {
    const bool waits = node.vote == Vote::excluded && node.remaining;
    if (waits) left = std::max(left.value_or(std::chrono::nanoseconds::zero()), *node.remaining);
    if (has_failed(node) && !waits) ++lost;
    if (node.vote == Vote::pending && !outlook.are_there) ++silent;
    const std::optional<bool> unused = may_be_unused(node);
    none_remembers = none_remembers && unused.value_or(true);
    all_known = all_known && unused.has_value();
  }
  if (!left) {
    const bool closed =
        std::any_of(report.nodes.begin(), report.nodes.end(), [](const NodeVote& node) {
          return node.vote == Vote::excluded && node.message == core::no_deployment;
        });
    return closed ? "; if that lasts, `quorum-lock doctor` says what to do" : "";
  }
  // Nodes that are down, or that no waiting mends, may leave too few afterwards as well.
  if (report.nodes.size() < lost + report.quorum) return "";
  if (report.nodes.size() < lost + silent + report.quorum) {
    return "; `quorum-lock doctor` says whether waiting helps";
  }
  const bool said = is_said_once(report);
  const std::string wait = said ? "" : ' ' + core::format_duration(*left);
  // If a node remembers a deployment, `bootstrap` quarantines that node too, and shortens nothing.
  if (!none_remembers) return said ? "" : "; wait" + wait;
  // A node that was not asked may show that they have forgotten too much.
  if (!all_known)
    return "; `quorum-lock doctor` says whether to wait, or to run `quorum-lock bootstrap`";
  return "; wait" + wait +
         ", or, if no lease can be left, open the deployment with `quorum-lock bootstrap`; on a "
         "developer's machine the restart guard can be off";
}

std::string who_forgot(const core::Outlook& outlook) {
  const bool one = outlook.forgot == 1;
  return std::to_string(outlook.forgot) + " of " + support::counted(outlook.members, "member") +
         ' ' + (one ? "has lost its data" : "have lost their data");
}

/// What helps: waiting, or something else.
std::string what_helps(const Round& report, const core::Outlook& outlook) {
  switch (outlook.impasse) {
    case core::Outlook::Impasse::other_max_ttl:
      return "; waiting does not help: all clients of a deployment need one max TTL";
    case core::Outlook::Impasse::other_servers:
      return "; waiting does not help";  // the node's reason says what does
    case core::Outlook::Impasse::forgotten:
      return "; waiting does not help: " + who_forgot(outlook) +
             ", and too few others can take them back. When no lock can be left, run "
             "`quorum-lock bootstrap`";
    case core::Outlook::Impasse::none:
      break;
  }
  if (outlook.forgot == 0 || outlook.are_there) {
    // The quarantine of a node that is not a member ends without a vote.
    return outlook.unlisted.empty() ? about_quarantine(report, outlook) : "";
  }
  return "; " + who_forgot(outlook) + ": the others take " + (outlook.forgot == 1 ? "it" : "them") +
         " back when " + std::to_string(outlook.needed) + " answer that remember";
}

std::string visible_list(const std::vector<std::string>& urls) {
  std::string text;
  for (const std::string& url : urls) text += (text.empty() ? "" : ", ") + redis::visible(url);
  return text;
}

/// The client may not know the members that it misses.
std::string about_list(const core::Outlook& outlook) {
  if (outlook.unlisted.empty()) return "";
  std::string text = "; your list of nodes is wrong: the deployment has " +
                     std::to_string(outlook.members) + " members, and the list lacks " +
                     visible_list(outlook.unlisted);
  if (outlook.strangers.empty()) return text;
  return text + "; " + visible_list(outlook.strangers) +
         (outlook.strangers.size() == 1 ? " is not a member's URL" : " are not members' URLs");
}

std::string sentence(Errc code, std::string_view resource, const Round& report,
                     std::uint32_t permits) {
  const std::string name = ' ' + quoted_name(resource);
  const std::string votes = report.nodes.empty() ? std::string() : ": " + counted(report);
  switch (code) {
    case Errc::held:
      return about_holder(resource, report, permits);
    case Errc::split:
      return quoted_name(resource) + " is split: nobody has " + std::to_string(report.quorum) +
             " of " + std::to_string(report.nodes.size()) + " nodes";
    case Errc::unavailable:
      if (report.nodes.empty()) return "unavailable for" + name + ": too few nodes could be asked";
      return "unavailable for" + name + votes + ", " + std::to_string(report.quorum) + " needed" +
             about_failures(report);
    case Errc::expired:
      return "expired while acquiring" + name + ": it took " +
             core::format_duration(report.elapsed) + ", too long for the TTL of " +
             core::format_duration(report.ttl) + "; raise the TTL";
    case Errc::excluded:
      return "too few voters for" + name + votes + ", " + std::to_string(report.quorum) +
             " needed" + about_failures(report);
    case Errc::not_holder:
      return quoted_name(resource) +
             " is not held by this token: the lease expired, or was released or broken";
    case Errc::cancelled:
      return "cancelled" + name;
    case Errc::closed:
      return "the client is closed";
    case Errc::forked:
      return "the client belongs to the parent process; create one after fork()";
    case Errc::would_block:
      return "a blocking call on the client's own loop thread would wait for itself";
    case Errc::invalid_argument:
      return "invalid argument for" + name;
    case Errc::limit_reached:
      return "limit reached: " + std::to_string(limits::operations) +
             " acquisitions and leases are alive";
  }
  return {};
}

}  // namespace

std::optional<Holder> holder_from(std::string_view said) {
  if (said.empty()) return std::nullopt;
  if (said == core::readers_group) return Holder{Holder::Kind::shared};
  if (said == core::waiting_writer) return Holder{Holder::Kind::writer};
  if (said == interval_token) return Holder{Holder::Kind::interval};
  if (said.starts_with(reservation_prefix)) return Holder{Holder::Kind::reserved};
  if (const auto owner = core::owner_of(said)) {
    return Holder{Holder::Kind::owned, std::nullopt, std::string(*owner)};
  }
  if (const auto token = Token::parse(said)) return Holder{Holder::Kind::exclusive, token};
  return Holder{Holder::Kind::other};
}

NodeVote report_node(const core::NodeVote& vote, const std::string& url) {
  NodeVote report;
  report.url = url;
  report.vote = vote.vote;
  report.round_trip = vote.round_trip;
  report.remaining = vote.remaining;
  if (vote.vote == Vote::refused) {
    report.holder = holder_from(vote.text);
  } else {
    report.message = vote.text;
  }
  return report;
}

namespace {

/// The reports of a round in which no node refused or failed.
NodeVotes plain_reports(const core::Round& round, const Urls& urls) {
  NodeVotes::Plain plain{urls, round.nodes(), round.granted()};
  plain.granted.each(
      [&](core::NodeIndex node) { plain.round_trips[node] = round.round_trip(node); });
  return NodeVotes(std::move(plain));
}

NodeVotes detailed_reports(const core::Round& round, const std::vector<std::string>& urls) {
  std::vector<NodeVote> nodes;
  nodes.reserve(round.nodes());
  (core::NodeSet::first(round.nodes()) - round.left_out()).each([&](core::NodeIndex node) {
    nodes.push_back(report_node(round.vote(node), urls[node]));
  });
  return nodes;
}

}  // namespace

Round report_round(const core::Round& round, const Urls& urls, core::Duration elapsed,
                   core::Duration validity) {
  const bool plain = round.denials() == 0 && !round.is_archived() && round.left_out().empty();
  return {.quorum = round.quorum(),
          .ttl = round.ttl(),
          .elapsed = elapsed,
          .remaining = std::max(validity, core::Duration::zero()),
          .nodes = plain ? plain_reports(round, urls) : detailed_reports(round, *urls)};
}

Error explain(Errc code, std::string_view resource, Round report, std::uint32_t permits) {
  std::string message = sentence(code, resource, report, permits);
  return Error{code, std::move(message), std::move(report)};
}

void add_outlook(Error& error, const core::Outlook& outlook) {
  if (error.code == Errc::excluded) error.message += what_helps(error.round, outlook);
  error.message += about_list(outlook);
}

Error explain_loss(std::string_view resource, Round report) {
  std::string message = "lost the lease on " + quoted_name(resource) + ": its deadline passed";
  // Otherwise nothing failed: the process was paused, or nobody renewed the lease.
  if (!report.nodes.empty() && count(report).granted < report.quorum) {
    message += ", and the last renewal failed: " + counted(report) + ", " +
               std::to_string(report.quorum) + " needed" + about_failures(report);
  }
  return Error{Errc::not_holder, std::move(message), std::move(report)};
}

void name_holder(Error& error, std::string_view resource, const Inspection& inspection) {
  const bool is_unknown = inspection.state == Inspection::State::indeterminate;
  if (is_unknown && inspection.kind == LockKind::none) return;
  const bool is_reserved = inspection.kind == LockKind::reserved;
  error.holder_name =
      is_reserved ? inspection.next.value_or(NextClient()).name : inspection.holder_name;
  const std::string what = what_it_is(inspection);
  if (error.code == Errc::held && inspection.kind != LockKind::none) {
    error.message = quoted_name(resource) + ' ' + what;
  } else {
    error.message += "; it " + what;
  }
}

std::string explain_unlisted(std::size_t members) {
  return "it is one of the " + std::to_string(members) +
         " members, and the list of nodes does not name it: the list is out of date";
}

std::string explain_undelivered(const core::Undelivered& report) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(report.left);
  std::string text = std::to_string(report.releases) +
                     (report.releases == 1 ? " release was" : " releases were") +
                     " not delivered before the client closed: what is locked there stays so for "
                     "at most " +
                     core::format_duration(left);
  if (report.may_write_late) text += " after the node has executed what it has received";
  return text;
}

std::string explain_spent_renewals(std::string_view resource) {
  return "limit reached for " + quoted_name(resource) +
         ": the lease's max renewals or max hold allow no further extend";
}

}  // namespace redlock::runtime
