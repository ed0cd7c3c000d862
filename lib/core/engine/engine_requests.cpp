#include <algorithm>
#include <array>

#include "core/claim/permits.hpp"
#include "core/claim/validity.hpp"
#include "core/engine/engine.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// By a server that is a replica, or about to have other data, also where a script met it.
bool says_no_master(std::string_view error) {
  constexpr std::array<std::string_view, 3> codes{"READONLY ", "MASTERDOWN ", "LOADING "};
  return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) {
    const std::size_t at = error.find(code);
    return at == 0 || (at != std::string_view::npos && error[at - 1] == '-');
  });
}

}  // namespace

NodeSet Engine::ask(Claim& claim) {
  // Nearly always all of them.
  NodeSet askable = is_set(claim.verb) ? nodes_.open(voters_.of(claim)) : NodeSet();
  (nodes_.all() - askable).each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    if (link.fresh()) {
      claim.unasked.add(node);
    } else if (!link.up() || link.duplicate_of() ||
               (is_set(claim.verb) && !voters_.has_vote(claim, node))) {
      if (is_set(claim.verb) && nodes_.undetermined().has(node)) return claim.unasked.add(node);
      voters_.record_absent(claim, node);
    } else if ((claim.task == Claim::Task::extend && !link.ineligible().empty()) ||
               (link.read_only() && claim.verb != Verb::inspect)) {
      voters_.record_absent(claim, node);
    } else if (link.congested()) {
      claim.round.record(node, Vote::timeout, {too_many_unanswered});
      if (is_set(claim.verb) || is_extend(claim.verb)) meter_.did_not_answer(node, Vote::timeout);
    } else {
      askable.add(node);
    }
  });
  if (!claim.unasked.empty()) claims_.index_by_token(claim);
  return transmit(claim, claim.verb, askable, ScriptForm::digest);
}

NodeSet Engine::transmit_script(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) {
  if (!is_set_fenced(verb)) {
    const NodeSet asked = transmit_same(claim, verb, nodes, form);
    if (verb == Verb::take && claim.fencing()) fencing_.prune(asked);
    return asked;
  }
  const NodeSet numbering = nodes & nodes_.can_set_fenced(claim.fencing()->first);
  const NodeSet others = nodes - numbering;
  const NodeSet sent = transmit_same(claim, fencing_.short_form(claim, verb), numbering, form) |
                       transmit_same(claim, Verb::take, others, form);
  fencing_.prune(sent);
  return sent;
}

NodeSet Engine::transmit_same(Claim& claim, Verb verb, NodeSet nodes, ScriptForm form) {
  if (is_set(verb)) clocks_.read_before_votes(nodes);
  // A replica would refuse it, and end the connection.
  if (verb != Verb::inspect) nodes = nodes & nodes_.able().to_write;
  const NodeSet sent = nodes_.open(nodes);
  if (sent.empty()) return sent;
  Stamp stamp;
  stamp.claim = claim.id();
  stamp.round = claim.round.number();
  stamp.verb = verb;
  rest_.wake(claim);
  cover_.sent(verb, sent);
  claim.unanswered += static_cast<std::uint32_t>(sent.size());
  if (is_set(verb) || is_extend(verb)) {
    const bool ours = claim.phase == Claim::Phase::acquiring || claim.phase == Claim::Phase::held;
    if (ours) claim.keys.write_sent(sent);
    claim.keys.asked_for(claim.time_to_ask(verb, now_), now_);
  }
  if (is_set(verb)) claim.keys.set_sent(sent);
  if (is_extend(verb)) claim.keys.extend_sent(sent);
  const bool queues = (verb == Verb::take || verb == Verb::take_permit) && claim.work->place.ticket;
  if (queues && claim.phase == Claim::Phase::acquiring) {
    claim.work->place.nodes = claim.work->place.nodes | sent;
    wait_queue_.asked(acquisitions_.at(claim.acquisition), sent);
  }
  tracking_.sent(claim, verb, sent);
  fill_in(claim, verb, outbox_.send(sent, stamp, form));
  if (is_set(verb)) names_.write(sent);
  return sent;
}

void Engine::fill_in(const Claim& claim, Verb verb, Terms& terms) const {
  terms.resource = claim.resource();
  terms.token = claim.token();
  terms.ttl = claim.time_to_ask(verb, now_);
  if (claim.is_special) {
    const SpecialTerms& special = claim.terms();
    terms.more_resources = special.more_resources;
    terms.group = special.group;
    terms.permits = special.permits;
    terms.cooldown = claim.cooldown(now_);
  }
  if (claim.fencing()) terms.fencing_number = claim.fencing()->number;
  terms.writer_reservation = claim.writer_reservation();
  terms.reserved_for = wait_queue_.reserved_for();
  if (const QueuePlace* place = claim.place_in(verb)) {
    terms.client = client_id().view();
    terms.ticket = place->ticket;
    // A release that keeps some of several resources has no word for it.
    terms.quiet = place->quiet && place->kept_before == 0;
    if (place->kept_before > 0) terms.kept_before = claim.resource_at(place->kept_before);
    if (place->reserved_for > Duration::zero()) terms.reserved_for = place->reserved_for;
  }
  if (verb == Verb::break_lock) terms.keeper = keeper_.view();
  if (verb == Verb::write_audit) terms.name = settings_.name;
  terms.may_share_call = claim.purpose == Claim::Purpose::acquire && terms.none();
}

void Engine::on(const Answer& answer) {
  REDLOCK_ASSERT(answer.reply != Reply::failed);
  if (answer.reply == Reply::error && says_no_master(answer.text)) {
    // What it was just now, and whether it kept its data: the next handshake finds out.
    return end_connection(answer.node, Vote::error, answer.text);
  }
  if (is_marker_reading(answer.stamp.verb)) return take_marker_reading(answer);
  if (answer.reply == Reply::marker) return take_marker_written(answer);
  Link& link = nodes_[answer.node];
  if (cover_.holds_back(link, answer.stamp.verb)) return link.hold_back(answer, now_);
  take_answer(answer, Vote::unreachable, link.answered(answer.stamp, now_));
}

void Engine::on(const Assents& event) {
  Link& link = nodes_[event.node];
  const std::size_t confirmed = cover_.confirmed(event);
  for (const Assent& assent : event.answers.first(confirmed)) {
    if (assent.reply == Reply::marker) {
      take_marker(event.node, assent.stamp, event.marker, 0);
    } else {
      take_counted_assent(event.node, assent, 0, link.answered(assent.stamp, now_));
    }
  }
  for (const Assent& assent : event.answers.subspan(confirmed)) {
    if (assent.reply == Reply::marker) {
      take_marker(event.node, assent.stamp, event.marker, 0);
      // Else it has another one, and nothing more that it said counts.
      if (!link.up()) return;
    } else if (cover_.holds_back(link, assent.stamp.verb)) {
      link.hold_back(assent, now_);
    } else if (assent.reply == Reply::clock) {
      take_time(event.node, assent.time, link.answered(assent.stamp, now_));
    } else {
      take_assent(event.node, assent, link.answered(assent.stamp, now_));
    }
  }
}

void Engine::take_fenced_assent(NodeIndex node, const Assent& assent, std::uint64_t floor,
                                const Arrival& arrival) {
  Claim* const claim = claims_.find(assent.stamp.claim.index, assent.stamp.claim.generation);
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  if (FencingTokens::acknowledge_at_once(*claim, node, floor)) {
    return take_grant(*claim, node, assent.stamp, arrival.took);
  }
  Answer answer;
  answer.node = node;
  answer.stamp = assent.stamp;
  answer.reply = assent.reply;
  answer.text = claim->token();
  FencingTokens::complete(*claim, answer, floor);
  take_answer(answer, Vote::unreachable, arrival);
}

void Engine::take_assent(NodeIndex node, const Assent& assent, Arrival arrival) {
  const Stamp& stamp = assent.stamp;
  Claim* const claim = claims_.find(stamp.claim.index, stamp.claim.generation);
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  if (assent.reply == Reply::granted && stamp.verb == Verb::set) {
    return take_grant(*claim, node, stamp, arrival.took);
  }
  if (assent.reply == Reply::released && !claim->by_operator) {
    return take_release(*claim, node, stamp, arrival.took);
  }
  Answer answer;
  answer.node = node;
  answer.stamp = stamp;
  answer.reply = assent.reply;
  take_answer(answer, Vote::unreachable, arrival);
}

void Engine::take_grant(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took) {
  --claim.unanswered;
  claim.work->in_full[static_cast<std::size_t>(stamp.verb)].remove(node);
  claim.keys.set_answered(node);
  const bool counts = voters_.has_vote(claim, node);
  note_grant(claim, node, stamp.round, counts);
  meter_.round_trip(node, took);
  if (!claim.keys.has_vote_of(node)) meter_.answered(node, Vote::excluded);
  if (stamp.round == claim.round.number()) {
    if (counts) {
      claim.round.record_grant(node, took);
    } else {
      nodes_.record_absent(claim.round, node, claim.terms().hold_at_least);
    }
  }
  touch_if_decided(claim);
}

void Engine::take_release(Claim& claim, NodeIndex node, const Stamp& stamp, Duration took) {
  --claim.unanswered;
  claim.work->in_full[static_cast<std::size_t>(stamp.verb)].remove(node);
  claim.keys.release_answered(node, KeyLedger::Release::done);
  if (stamp.round == claim.round.number()) claim.round.record_grant(node, took);
  touch_if_decided(claim);
}

void Engine::take_answer(const Answer& answer, Vote failure,
                         const std::optional<Arrival>& arrival) {
  const NodeIndex node = answer.node;
  const Stamp& stamp = answer.stamp;
  if (is_upkeep(stamp.verb)) return take_upkeep(answer, arrival);
  std::optional<Duration> took;
  if (arrival) took = arrival->took;
  Claim* claim = claims_.find(stamp.claim.index, stamp.claim.generation);
  // A claim outlives every request sent for it; an answer without one is an answer to nothing.
  REDLOCK_ASSERT(claim != nullptr && claim->unanswered > 0);
  if (is_comparison(stamp.verb)) {
    if (const auto plain = in_terms_of_scripts(*claim, answer)) {
      return take_answer(*plain, failure, arrival);
    }
  }
  --claim->unanswered;
  if (answer.reply == Reply::script_needed && send_as_script(*claim, answer)) return;

  NodeSet& in_full = claim->work->in_full[static_cast<std::size_t>(stamp.verb)];
  const bool unknown_digest = answer.reply == Reply::script_missing && !in_full.has(node);
  if (unknown_digest && still_wanted(*claim, stamp)) {
    in_full.add(node);
    if (!transmit(*claim, stamp.verb, NodeSet::of(node), ScriptForm::text).empty()) return;
  }
  in_full.remove(node);

  if (is_set(stamp.verb)) {
    note_set(*claim, answer);
    note_place(*claim, answer);
    give_orphan_expiry(*claim, answer);
    meter_.count_vote(*claim, answer, failure, took);
  } else if (is_extend(stamp.verb)) {
    note_extend(*claim, answer);
    meter_.count_vote(*claim, answer, failure, took);
  } else if (is_release(stamp.verb)) {
    note_release(*claim, answer);
  } else if (stamp.verb == Verb::inspect) {
    tracking_.inspected(*claim, answer);
  } else {
    // No round counts it.
    if (is_raise(stamp.verb)) note_fencing_number(*claim, answer);
    return touch(*claim);
  }
  if (stamp.round == claim->round.number()) record(*claim, answer, failure, took);
  touch(*claim);
}

void Engine::take_upkeep(const Answer& answer, const std::optional<Arrival>& arrival) {
  const bool answered = answer.reply != Reply::failed;
  switch (answer.stamp.verb) {
    case Verb::kill_old:
      if (!answered) return;
      nodes_[answer.node].killed();
      return settle_on_replica(answer.node);
    case Verb::read_clock:
      return take_clock(answer, arrival);
    case Verb::read_evictions:
      if (answer.reply == Reply::done && clocks_.evicted(answer.node, answer.number)) {
        lower_deadlines();
      }
      return;
    case Verb::write_name:
      return names_.answered(answer);
    case Verb::join_queue:
    case Verb::leave_queue:
      return wait_queue_.answered(answer.node, answer.stamp, answer);
    case Verb::track:
      return take_tracked(answer);
    case Verb::write_marker:
    case Verb::mark_plain:
      return enroller_.refused(answer.node);
    default:
      return;
  }
}

bool Engine::still_wanted(const Claim& claim, const Stamp& stamp) {
  // Sent again behind a release it would set what was released. A lease in its first round gives a
  // late node its key all the same.
  const bool first_round = claim.phase == Claim::Phase::held && stamp.round == claim.round.number();
  if (is_taking_script(stamp.verb)) return claim.phase == Claim::Phase::acquiring || first_round;
  if (!is_repair(stamp.verb)) return true;
  // Sent again behind a release it would revive what was released. Behind the next round's extend
  // it would be counted there, and that one finds out for itself. A round by token never releases.
  const bool by_token = claim.purpose == Claim::Purpose::extend;
  return by_token || (claim.phase == Claim::Phase::held && stamp.round == claim.round.number());
}

void Engine::note_set(Claim& claim, const Answer& answer) {
  claim.keys.set_answered(answer.node);
  switch (answer.reply) {
    case Reply::failed:
      claim.keys.write_unanswered(answer.node);
      release_late(claim, answer.node);
      break;
    case Reply::granted:
    case Reply::behind:
      if (claim.fencing()) note_fencing_number(claim, answer);
      note_grant(claim, answer.node, answer.stamp.round, voters_.has_vote(claim, answer.node));
      break;
    case Reply::taken:
      if (claim.phase == Claim::Phase::acquiring) note_obstacle(claim, answer);
      forget_key(claim, answer);
      break;
    case Reply::error:
      if (claim.fencing() && answer.text.starts_with("FENCE")) fencing_.refused(claim);
      forget_key(claim, answer);
      break;
    case Reply::clock:
    case Reply::extended:
    case Reply::repaired:
    case Reply::gone:
    case Reply::released:
    case Reply::found:
    case Reply::done:
    case Reply::marker:
    case Reply::script_missing:
    case Reply::script_needed:
      forget_key(claim, answer);
      break;
  }
}

void Engine::note_grant(Claim& claim, NodeIndex node, std::uint16_t round, bool is_voter) {
  tracking_.granted(claim, node);
  claim.keys.forget_lost(lost_votes_);
  if (is_voter) claim.keys.voted(node);
  // It may have been set only now, and a release of it may be refused.
  claim.keys.written_by(now_);
  if (claim.phase == Claim::Phase::cleaning_up) release_late(claim, node);
  note_in_basis(claim, node, round);
}

void Engine::note_place(Claim& claim, const Answer& answer) {
  const bool queues = answer.stamp.verb == Verb::take || answer.stamp.verb == Verb::take_permit;
  if (!queues || !claim.work->place.ticket) return;
  if (claim.work->place.unanswered.has(answer.node)) {
    claim.work->place.unanswered.remove(answer.node);
    const bool taken_out = answer.reply == Reply::granted || answer.reply == Reply::behind;
    if (taken_out || answer.reply == Reply::failed) return;
    const std::uint32_t permits = claim.terms().permits;
    const std::string_view queue =
        permits > 0 ? permits_prefix(claim.resource()) : claim.resource();
    return wait_queue_.queued_for_nothing(queue, permits, answer.node);
  }
  // The acquisition may be over by now, and its place be another's.
  const Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  const bool is_its = acquisition.live && acquisition.claim == claim.id() &&
                      acquisition.state != Acquisition::State::over;
  if (!is_its) return;
  wait_queue_.answered_attempt(acquisition, answer, claim.phase == Claim::Phase::acquiring);
}

void Engine::note_in_basis(Claim& claim, NodeIndex node, std::uint16_t round) {
  if (claim.phase != Claim::Phase::held) return;
  // A straggler of the round that the deadline rests on: one more node that has the key.
  ValidityBasis& basis = claim.lease().basis;
  if (round == basis.round) basis.nodes.add(node);
}

void Engine::note_obstacle(const Claim& claim, const Answer& answer) {
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  if (claim.terms().traits().is_chosen) return acquisition.note_free_permits(answer.text);
  // Holds, or a server that does not name the holder: readers may be in the way, and only a script
  // can keep new ones out. Where nodes differ, some are asked by a script before others.
  const bool holds = is_group(answer.text);
  if (answer.text.empty() || holds) acquisition.by_script = true;
}

void Engine::give_orphan_expiry(Claim& claim, const Answer& answer) {
  if (answer.reply != Reply::taken || answer.remaining || !claim.terms().orphan_ttl) return;
  transmit(claim, Verb::expire_orphan, NodeSet::of(answer.node), ScriptForm::digest);
}

void Engine::forget_key(Claim& claim, const Answer& answer) {
  // Behind an answer to an earlier round, one may be under way that gives the node the key.
  if (answer.stamp.round == claim.round.number()) claim.keys.absent(answer.node);
}

void Engine::note_extend(Claim& claim, const Answer& answer) {
  claim.keys.extend_answered(answer.node);
  if (answer.reply == Reply::failed) claim.keys.write_unanswered(answer.node);
  if (answer.reply == Reply::extended && voters_.extends(claim, answer.node)) {
    claim.keys.voted(answer.node);
    note_in_basis(claim, answer.node, answer.stamp.round);
  } else if (answer.reply != Reply::error && answer.reply != Reply::script_missing &&
             answer.reply != Reply::script_needed) {
    claim.keys.vote_forgotten(answer.node);
  }
  if (answer.reply == Reply::extended || answer.reply == Reply::repaired) {
    // It may have been written only now, and a release of it may be refused.
    claim.keys.written_by(now_);
    release_late(claim, answer.node);
  }
  claim.is_hold = claim.is_hold || answer.holds.has_value();
  // An error leaves whatever was there; only a node that says so does not have our key.
  if (answer.reply == Reply::gone || answer.reply == Reply::taken) forget_key(claim, answer);
  const bool straggler_of_a_won_round =
      is_extend(answer.stamp.verb) && !is_repair(answer.stamp.verb) && !claim.is_hold &&
      claim.task == Claim::Task::none && claim.round.verdict() == Verdict::won &&
      now_ < claim.valid_until;
  if (straggler_of_a_won_round && answer.reply == Reply::gone) {
    transmit(claim, Verb::extend_or_set, NodeSet::of(answer.node), ScriptForm::digest);
  }
}

void Engine::record(Claim& claim, const Answer& answer, Vote failure,
                    std::optional<Duration> took) {
  Round& round = claim.round;
  const NodeIndex node = answer.node;
  switch (answer.reply) {
    case Reply::granted:
    case Reply::behind:
      // A guard may have spoken since it was asked.
      if (!voters_.has_vote(claim, node))
        return nodes_.record_absent(round, node, claim.terms().hold_at_least);
      if (claim.fencing() && claim.fencing()->left_out.has(node)) {
        return round.record(node, Vote::excluded,
                            {FencingTokens::why_left_out(claim, answer.number), took, {}});
      }
      return round.record_grant(node, took);
    case Reply::extended:
      if (!voters_.extends(claim, node))
        return nodes_.record_absent(round, node, claim.terms().hold_at_least);
      return round.record_grant(node, took);
    case Reply::released:
      return round.record_grant(node, took);
    case Reply::gone:
      // To an inspection a free node is the good answer.
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

void Engine::judge(Claim& claim) {
  switch (claim.task) {
    case Claim::Task::none:
    case Claim::Task::meet_nodes:
      return;
    case Claim::Task::acquire:
      return judge_attempt(claim);
    case Claim::Task::fence:
      return judge_fencing(claim);
    case Claim::Task::extend:
      return judge_extend(claim);
    case Claim::Task::release:
      return judge_release(claim);
    case Claim::Task::release_by_token:
      return judge_release_by_token(claim);
    case Claim::Task::inspect:
      return judge_inspect(claim);
  }
}

}  // namespace redlock::core
