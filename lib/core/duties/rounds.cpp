#include "core/duties/rounds.hpp"

#include <string_view>

#include "support/assert.hpp"

namespace redlock::core {

NodeSet Rounds::ask(Claim& claim) {
  // Nearly always, these are all nodes.
  NodeSet askable = is_set(claim.verb) ? nodes_.open(voters_.of(claim)) : NodeSet();
  (nodes_.all() - askable).each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    if (link.contact->fresh()) {
      claim.unasked.by(me).add(node);
    } else if (!link.up() || link.mandate->duplicate_of() ||
               (is_set(claim.verb) && !voters_.has_vote(claim, node))) {
      if (is_set(claim.verb) && nodes_.undetermined().has(node))
        return claim.unasked.by(me).add(node);
      voters_.record_absent(claim, node);
    } else if ((claim.task == Claim::Task::extend && !link.mandate->ineligible().empty()) ||
               (link.read_only() && claim.verb != Verb::inspect)) {
      voters_.record_absent(claim, node);
    } else if (link.in_flight->congested()) {
      claim.round.by(me).record(node, Vote::timeout, {too_many_unanswered});
      if (is_set(claim.verb) || is_extend(claim.verb)) meter_.did_not_answer(node, Vote::timeout);
    } else {
      askable.add(node);
    }
  });
  if (!claim.unasked->empty()) claims_.index_by_token(claim);
  return sender_.send(claim, claim.verb, askable);
}

void Rounds::take(Claim& claim, const Answer& answer, Vote failure, std::optional<Duration> took) {
  REDLOCK_ASSERT(claim.unanswered > 0);
  const Stamp& stamp = answer.stamp;
  if (compares(stamp.verb)) {
    if (const auto plain = Sender::in_terms_of_scripts(claim, answer)) {
      return take(claim, *plain, failure, took);
    }
  }
  --claim.unanswered.by(me);
  if (sender_.sent_again(claim, answer)) return;

  if (is_set(stamp.verb)) {
    key_notes_.set_answered(claim, answer);
    meter_.count_vote(claim, answer, failure, took);
  } else if (is_extend(stamp.verb)) {
    key_notes_.extend_answered(claim, answer);
    meter_.count_vote(claim, answer, failure, took);
  } else if (is_release(stamp.verb)) {
    key_notes_.release_answered(claim, answer);
  } else if (stamp.verb == Verb::inspect) {
    tracking_.inspected(claim, answer);
  } else {
    // No round counts this answer.
    if (is_raise(stamp.verb)) key_notes_.fencing_answered(claim, answer);
    return agenda_.touch(claim);
  }
  if (stamp.round() == claim.round->number()) record(claim, answer, failure, took);
  agenda_.touch(claim);
}

void Rounds::take_grant(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took) {
  --claim.unanswered.by(me);
  claim.work->in_full.by(me)[static_cast<std::size_t>(stamp.verb)].remove(node);
  claim.keys.by(me).set_answered(node);
  const bool counts = voters_.has_vote(claim, node);
  key_notes_.granted(claim, node, stamp.round(), counts);
  meter_.round_trip(node, took);
  if (!claim.keys->has_vote_of(node)) meter_.answered(node, Vote::excluded);
  if (stamp.round() == claim.round->number()) {
    if (counts) {
      claim.round.by(me).record_grant(node, took);
    } else {
      nodes_.record_absent(claim.round.by(me), node, claim.terms().interval);
    }
  }
  agenda_.touch_if_decided(claim);
}

void Rounds::take_release(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took) {
  --claim.unanswered.by(me);
  claim.work->in_full.by(me)[static_cast<std::size_t>(stamp.verb)].remove(node);
  claim.keys.by(me).release_answered(node, KeyLedger::Release::done);
  if (stamp.round() == claim.round->number()) claim.round.by(me).record_grant(node, took);
  agenda_.touch_if_decided(claim);
}

void Rounds::record(Claim& claim, const Answer& answer, Vote failure,
                    std::optional<Duration> took) {
  Round& round = claim.round.by(me);
  const NodeIndex node = answer.node;
  switch (answer.reply) {
    case Reply::granted:
    case Reply::behind:
      // A guard may have taken the node's vote since the request.
      if (!voters_.has_vote(claim, node))
        return nodes_.record_absent(round, node, claim.terms().interval);
      if (claim.fencing() && claim.fencing()->left_out.has(node)) {
        return round.record(node, Vote::excluded,
                            {FencingTokens::why_left_out(claim, answer.number), took, {}});
      }
      return round.record_grant(node, took);
    case Reply::extended:
      if (!voters_.extends(claim, node))
        return nodes_.record_absent(round, node, claim.terms().interval);
      return round.record_grant(node, took);
    case Reply::released:
      // Another server may be the primary, and knows nothing of the delay.
      if (answer.stamp.verb == Verb::break_lock && !nodes_[node].reign->stands()) {
        return nodes_.record_absent(round, node, Duration::zero());
      }
      return round.record_grant(node, took);
    case Reply::gone:
      // For an inspection, a free resource counts as a grant.
      if (claim.task == Claim::Task::inspect) {
        return round.record(node, Vote::granted,
                            {{}, took, {}, answer.number, answer.time, {}, answer.for_people});
      }
      return round.record(node, Vote::refused, {{}, took, Duration::zero()});
    case Reply::repaired:
      return round.record(node, Vote::refused, {{}, took, Duration::zero()});
    case Reply::taken:
      return round.record(node, Vote::refused,
                          {claim.terms().traits().is_chosen ? std::string_view() : answer.text,
                           took,
                           answer.remaining,
                           answer.number,
                           answer.time,
                           {},
                           {}});
    case Reply::found:
      return round.record(node, Vote::refused,
                          {answer.text, took, answer.remaining, answer.number, answer.time,
                           answer.holds, answer.for_people});
    case Reply::error:
    case Reply::script_missing:
    case Reply::script_needed:
    case Reply::clock:
    case Reply::done:
    case Reply::marker:
      return round.record(node, Vote::error, {answer.text, took, {}});
    case Reply::failed:
      return round.record(node, failure, {answer.text, {}, {}});
  }
}

}  // namespace redlock::core
