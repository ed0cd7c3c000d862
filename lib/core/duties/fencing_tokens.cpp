#include "core/duties/fencing_tokens.hpp"

#include <algorithm>
#include <chrono>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// A node is pruned once for this many requests for numbers, and with the first one of a
/// connection.
constexpr std::uint64_t numbers_per_pruning = 1000;

}  // namespace

void FencingTokens::propose(Claim& claim, Duration wall_clock) {
  Fencing& fencing = claim.begin_fencing(me);
  // Several resources share one number, which is above the numbers seen for each of them.
  fencing.number = numbers_.propose(claim.resource(), wall_clock);
  for (const std::string& other : claim.terms().more_resources) {
    fencing.number = std::max(fencing.number, numbers_.propose(other, wall_clock));
  }
  fencing.first = fencing.number;
  fencing.reach = fencing_number_at(wall_clock + fence_reach);
  remember(claim, fencing.number);
}

void FencingTokens::hand_on(Claim& claim, std::uint64_t number) {
  Fencing& fencing = claim.begin_fencing(me);
  fencing.number = fencing.first = number;
  fencing.reach = fence_limit;
  fencing.rounds = 2;  // it has been acknowledged once
}

void FencingTokens::remember(const Claim& claim, std::uint64_t number) {
  // A number beyond reach is not proposed, and must not hide one within reach.
  if (number > claim.fencing()->reach) return;
  numbers_.note(claim.resource(), number);
  for (const std::string& other : claim.terms().more_resources) numbers_.note(other, number);
}

void FencingTokens::refused(const Claim& claim) {
  numbers_.forget(claim.resource());
  for (const std::string& other : claim.terms().more_resources) numbers_.forget(other);
}

Verb FencingTokens::short_form(const Claim& claim, Verb verb) const {
  // The short form needs the floor, which only the marker reading after a vote brings. And a client
  // that is often behind has to know by how much.
  const bool fits =
      settings_.restart_guard && !claim.contended && !numbers_.was_behind(claim.resource());
  if (verb == Verb::set_fenced && fits) return Verb::set_fenced_short;
  if (verb == Verb::set_fenced_and_ttl && fits) return Verb::set_fenced_short_and_ttl;
  return verb;
}

void FencingTokens::complete(const Claim& claim, Answer& answer, std::uint64_t floor) {
  REDLOCK_ASSERT(claim.fencing());
  if (answer.reply == Reply::granted && floor == 0) answer.reply = Reply::behind;
  if (answer.reply == Reply::granted) answer.number = floor;
  // The short form only says that the node's number is not below ours.
  if (answer.reply == Reply::behind) answer.number = std::max(floor, claim.fencing()->first);
}

bool FencingTokens::acknowledges(const Claim& claim, const Answer& answer) {
  const Fencing& fencing = *claim.fencing();
  // A number that was handed on stays if no node has a larger one: nobody else was given it.
  const bool stays = answer.reply == Reply::behind && claim.phase == Claim::Phase::by_token &&
                     fencing.number == fencing.first && answer.number <= fencing.number;
  if (stays) return true;
  if (answer.reply != Reply::granted) return false;
  if (!is_divided(answer.stamp.verb)) return answer.number == fencing.number;
  // Commands of other clients may have run in between. If the key is ours at the end, it was ours
  // all the time, and no other lease began: the effect is that of one command.
  const bool undivided = answer.text == claim.token();
  if (is_raise(answer.stamp.verb)) return undivided && answer.number < fencing.number;
  return undivided && answer.number < fencing.first && fencing.first == fencing.number;
}

bool FencingTokens::acknowledge_at_once(Claim& claim, NodeIndex node, std::uint64_t floor) {
  Fencing& fencing = *claim.fencing(me);
  const bool is_of_first_number = fencing.rounds == 1 || claim.phase != Claim::Phase::acquiring;
  const bool acknowledged = is_of_first_number && fencing.left_out.empty() && 0 < floor &&
                            floor < fencing.first && floor <= fencing.reach;
  if (acknowledged) fencing.acknowledged.add(node);
  return acknowledged;
}

bool FencingTokens::is_left_out(Claim& claim, const Answer& answer) {
  Fencing& fencing = *claim.fencing(me);
  const bool has_number = answer.reply == Reply::behind || is_divided(answer.stamp.verb);
  if (!has_number || answer.number <= fencing.reach || claim.phase != Claim::Phase::acquiring) {
    return fencing.left_out.has(answer.node);
  }
  // Raising the other nodes above this number would put them out of reach, too, for good. No number
  // can be raised above the last one.
  const NodeSet others = (claim.round->granted() & nodes_.up()) | claim.round->pending();
  const NodeSet rest = others - NodeSet::of(answer.node) - fencing.left_out;
  const bool at_the_end = answer.number + 1 >= fence_limit;
  if (at_the_end || rest.size() >= claim.round->quorum()) {
    if (!fencing.left_out.has(answer.node)) meter_.answered(answer.node, Vote::excluded);
    fencing.left_out.add(answer.node);
  }
  return fencing.left_out.has(answer.node);
}

std::string FencingTokens::why_left_out(const Claim& claim, std::uint64_t number) {
  if (number + 1 >= fence_limit) return "its fencing numbers have come to their end";
  const auto ahead = std::chrono::microseconds(number - claim.fencing()->reach) + fence_reach;
  const auto hours = std::chrono::floor<std::chrono::hours>(ahead).count();
  return "its fencing numbers are " + std::to_string(hours) + " hours ahead of our clock";
}

bool FencingTokens::answered(Claim& claim, const Answer& answer) {
  Fencing& fencing = *claim.fencing(me);
  const NodeIndex node = answer.node;
  const bool raise = is_raise(answer.stamp.verb);
  if (raise) fencing.asked.remove(node);
  if (is_left_out(claim, answer)) return false;
  if (answer.reply == Reply::behind || is_divided(answer.stamp.verb)) {
    fencing.highest = std::max(fencing.highest, answer.number);
    remember(claim, answer.number);
  }
  if (claim.phase != Claim::Phase::acquiring && claim.task != Claim::Task::fence) return false;
  if (is_short(answer.stamp.verb) && answer.reply == Reply::behind) {
    numbers_.note_behind(claim.resource(), true);
  }
  // A primary that nobody follows acknowledges nothing.
  if (!acknowledges(claim, answer) || !nodes_[node].reign->stands())
    return !raise && fencing.rounds > 1;
  if (!raise && !is_short(answer.stamp.verb)) numbers_.note_behind(claim.resource(), false);
  fencing.acknowledged.add(node);
  return false;
}

void FencingTokens::raise(Claim& claim) {
  Fencing& fencing = *claim.fencing(me);
  fencing.number = std::max(fencing.highest, fencing.number) + 1;
  remember(claim, fencing.number);
  fencing.acknowledged = NodeSet();
  ++fencing.rounds;
}

void FencingTokens::asked(Claim& claim, NodeSet nodes) {
  claim.fencing(me)->asked = nodes;
  meter_.fencing_raised(nodes);
}

FencingTokens::Verdict FencingTokens::judge(const Claim& claim) {
  const Fencing& fencing = *claim.fencing();
  if (fencing.acknowledged.size() >= claim.round->quorum()) return Verdict::acknowledged;
  if (std::max(fencing.highest, fencing.number) + 1 >= fence_limit) return Verdict::exhausted;
  return fencing.rounds == 1 ? Verdict::first_round : Verdict::later_round;
}

FencingTokens::Prospect FencingTokens::prospect(const Claim& claim) const {
  // A later round ends when it can no longer win and none of its requests is unanswered: a late
  // answer would be taken for an answer to the next round.
  const Fencing& fencing = *claim.fencing();
  // A node that extends a lease late says nothing about numbers.
  const NodeSet pending =
      claim.phase == Claim::Phase::acquiring ? claim.round->pending() : NodeSet();
  const std::size_t possible = fencing.acknowledged.size() + fencing.asked.size() + pending.size();
  if (possible >= claim.round->quorum()) return Prospect::open;
  const NodeSet reachable = claim.round->granted() & nodes_.up();
  if (reachable.size() < claim.round->quorum()) return Prospect::none;
  if (!fencing.asked.empty()) return Prospect::open;
  return fencing.highest >= fencing.number ? Prospect::raise : Prospect::none;
}

void FencingTokens::prune(NodeSet nodes) {
  NodeSet due;
  nodes.each([&](NodeIndex node) {
    if (nodes_[node].in_flight->congested()) return;
    if (asked_of_[node]++ % numbers_per_pruning == 0) due.add(node);
  });
  if (due.empty()) return;
  // Pruning is so rare that an unknown digest is not worth another round trip.
  outbox_.send(due, Stamp(Verb::prune_fencing_numbers), ScriptForm::text);
}

}  // namespace redlock::core
