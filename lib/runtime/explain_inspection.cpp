#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/vocabulary/for_people.hpp"
#include "core/vocabulary/holder_words.hpp"
#include "core/vocabulary/texts.hpp"
#include "core/votes/round.hpp"
#include "redis/values/keys.hpp"
#include "redlock/token.hpp"
#include "runtime/explain.hpp"
#include "support/counted.hpp"

namespace redlock::runtime {
namespace {

/// The name of the token's holder. The name of a lease itself, if it has one, is in its token.
std::string name_of(const Token& token, std::string_view name_of_client) {
  return std::string(token.name().empty() ? name_of_client : token.name());
}

void describe_holds(const core::NodeVote& vote, std::string_view names, NodeInspection& node) {
  node.holds = vote.holds->count;
  std::string_view texts = vote.text;
  const std::string_view group = core::take_text(texts).value_or(std::string_view());
  const auto owner = core::owner_of(group);
  node.kind = owner ? LockKind::owned : LockKind::shared;
  if (owner) node.owner = *owner;
  while (const auto held = core::take_text(texts)) {
    const auto name = core::take_text(names);
    const auto token = Token::parse(*held);
    // Not one of our tokens: other software wrote it.
    if (!token) continue;
    node.tokens.push_back(*token);
    if (name) node.names.push_back(name_of(*token, *name));
  }
}

void describe(const core::NodeVote& vote, const core::ForPeople& people, NodeInspection& node) {
  node.remaining = vote.remaining;
  if (vote.holds) {
    describe_holds(vote, people.names, node);
  } else if (vote.text == redis::keys::cooldown) {
    node.kind = LockKind::interval;
  } else if (vote.text.starts_with(reservation_prefix)) {
    node.kind = LockKind::reserved;
  } else if (const auto token = Token::parse(vote.text)) {
    node.kind = LockKind::exclusive;
    node.holder = token;
    node.holder_name = name_of(*token, people.holder_name);
  } else {
    node.kind = LockKind::other;
  }
}

void describe_people(const core::ForPeople& people, NodeInspection& node) {
  node.waiters = people.waiters;
  if (!people.next.empty()) {
    node.next = NextClient{std::string(people.next), std::string(people.next_name)};
  }
  std::string_view audit = people.audit;
  while (const auto entry = core::take_audit(audit)) {
    node.broken.push_back(
        {std::chrono::system_clock::time_point(std::chrono::milliseconds(entry->milliseconds)),
         Token::parse(entry->token).value_or(Token()), std::string(entry->name)});
  }
}

NodeInspection inspect_node(const core::NodeVote& vote, const std::string& url) {
  const core::ForPeople people =
      core::parse_for_people(vote.for_people).value_or(core::ForPeople());
  NodeInspection node;
  node.url = url;
  if (vote.vote == Vote::refused) {
    describe(vote, people, node);
  } else if (vote.vote != Vote::granted) {
    node.error = vote.text;
  }
  describe_people(people, node);
  if (vote.number != 0) node.fencing_token = FencingToken(vote.number);
  node.quarantine = vote.quarantine;
  return node;
}

std::string_view id_of(const std::optional<NextClient>& next) {
  return next ? std::string_view(next->id) : std::string_view();
}

/// Whether two nodes store the same.
bool agree(const NodeInspection& a, const NodeInspection& b) {
  return a.kind == b.kind && a.holder == b.holder && a.owner == b.owner &&
         (a.kind != LockKind::reserved || id_of(a.next) == id_of(b.next));
}

/// A node whose content most nodes have, and their number.
struct Leader {
  const NodeInspection* node = nullptr;
  std::size_t nodes = 0;
};

Leader find_leader(const std::vector<NodeInspection>& nodes) {
  Leader leader;
  for (const NodeInspection& node : nodes) {
    if (node.kind == LockKind::none) continue;
    const auto same = static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(),
                      [&](const NodeInspection& other) { return agree(node, other); }));
    if (same > leader.nodes) leader = {&node, same};
  }
  return leader;
}

Inspection::State state_of(const Inspection& inspection, const Leader& leader) {
  std::size_t taken = 0;
  std::size_t silent = 0;
  for (const NodeInspection& node : inspection.nodes) {
    if (!node.error.empty()) ++silent;
    if (node.kind != LockKind::none) ++taken;
  }
  const std::size_t all = inspection.nodes.size();
  if (leader.nodes >= inspection.quorum) {
    return leader.node->kind == LockKind::reserved ? Inspection::State::free
                                                   : Inspection::State::held;
  }
  if (all - silent - taken >= inspection.quorum) return Inspection::State::free;
  const bool may_be_held = leader.nodes + silent >= inspection.quorum;
  const bool is_blocked = taken > all - inspection.quorum;
  return is_blocked && !may_be_held ? Inspection::State::split : Inspection::State::indeterminate;
}

/// Finds the client that is the successor on most nodes; a reservation counts for more than a queue
/// position.
void find_next(Inspection& inspection) {
  std::size_t most = 0;
  for (const NodeInspection& node : inspection.nodes) {
    inspection.waiters = std::max(inspection.waiters, node.waiters);
    if (!node.next) continue;
    const auto same = static_cast<std::size_t>(std::count_if(
        inspection.nodes.begin(), inspection.nodes.end(),
        [&](const NodeInspection& other) { return id_of(other.next) == node.next->id; }));
    const bool better = same > most || (same == most && inspection.next->name.empty() &&
                                        inspection.next->id == node.next->id);
    if (!better) continue;
    most = same;
    inspection.next = node.next;
  }
}

/// Merges the nodes' records of broken locks: nodes record the same one within moments of each
/// other.
void gather_broken(Inspection& inspection) {
  constexpr auto moment = std::chrono::seconds(10);
  std::vector<BrokenLock>& all = inspection.broken;
  for (const NodeInspection& node : inspection.nodes) {
    for (const BrokenLock& broken : node.broken) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const BrokenLock& other) {
        return other.token == broken.token && other.by == broken.by &&
               std::chrono::abs(other.time - broken.time) < moment;
      });
      if (!known) all.push_back(broken);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const BrokenLock& a, const BrokenLock& b) { return a.time > b.time; });
}

}  // namespace

void judge(Inspection& inspection) {
  const Leader leader = find_leader(inspection.nodes);
  inspection.state = state_of(inspection, leader);
  const bool is_rest =
      inspection.state == Inspection::State::free && leader.nodes < inspection.quorum;
  if (leader.node == nullptr || is_rest) return;
  inspection.kind = leader.node->kind;
  inspection.holder = leader.node->holder;
  inspection.owner = leader.node->owner;
  for (const NodeInspection& node : inspection.nodes) {
    // A node that was asked later than others may not have the name.
    if (inspection.holder_name.empty() && agree(node, *leader.node)) {
      inspection.holder_name = node.holder_name;
    }
  }
}

Inspection report_inspection(const core::Round& round, const std::vector<std::string>& urls) {
  Inspection inspection;
  inspection.quorum = round.quorum();
  (core::NodeSet::first(round.nodes()) - round.left_out()).each([&](core::NodeIndex node) {
    inspection.nodes.push_back(inspect_node(round.vote(node), urls[node]));
  });
  for (std::size_t node = round.nodes(); node < urls.size(); ++node) {
    NodeInspection& unasked = inspection.nodes.emplace_back();
    unasked.url = urls[node];
    unasked.error = "it was not asked: the list of nodes does not name it";
  }
  judge(inspection);
  find_next(inspection);
  gather_broken(inspection);
  return inspection;
}

Result<Ownership> judge_ownership(const core::Round& round, std::string_view token,
                                  std::size_t known) {
  std::size_t votes = 0;
  std::size_t unknown = known - round.nodes();
  (core::NodeSet::first(round.nodes()) - round.left_out()).each([&](core::NodeIndex node) {
    const core::NodeVote& vote = round.vote(node);
    const bool stored = vote.vote == Vote::refused;
    const bool has = vote.holds ? vote.holds->asked_for : vote.text == token;
    votes += stored && has ? 1U : 0U;
    unknown += stored || vote.vote == Vote::granted ? 0U : 1U;
  });
  if (votes >= round.quorum()) return Ownership::held;
  if (votes + unknown < round.quorum()) return Ownership::not_held;
  return Error{Errc::unavailable,
               "unknown: the token is on " + support::counted(votes, "node") + ", " +
                   std::to_string(unknown) + " did not answer, " + std::to_string(round.quorum()) +
                   " needed",
               {}};
}

}  // namespace redlock::runtime
