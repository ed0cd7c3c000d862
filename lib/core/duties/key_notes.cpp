#include "core/duties/key_notes.hpp"

#include "core/vocabulary/permits.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::core {

// --- answers to requests for the lock -----------------------------------------------------------

void KeyNotes::set_answered(Claim& claim, const Answer& answer) {
  note_set(claim, answer);
  note_position(claim, answer);
  give_orphan_expiry(claim, answer);
}

void KeyNotes::note_set(Claim& claim, const Answer& answer) {
  claim.keys.by(me).set_answered(answer.node);
  switch (answer.reply) {
    case Reply::failed:
      claim.keys.by(me).write_unanswered(answer.node);
      owed_releases_.written(claim, answer.node);
      break;
    case Reply::granted:
    case Reply::behind:
      if (claim.fencing()) fencing_answered(claim, answer);
      granted(claim, answer.node, answer.stamp.round(), voters_.has_vote(claim, answer.node));
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

void KeyNotes::granted(Claim& claim, NodeIndex node, std::uint16_t round, bool is_voter) {
  tracking_.granted(claim, node);
  claim.keys.by(me).forget_lost(lost_votes_);
  if (is_voter) claim.keys.by(me).voted(node);
  // The key may have been set only now, and its release may be refused: its TTL counts from now.
  claim.keys.by(me).may_be_written_until(now_);
  owed_releases_.written(claim, node);
  note_in_basis(claim, node, round);
}

void KeyNotes::note_in_basis(Claim& claim, NodeIndex node, std::uint16_t round) {
  if (claim.phase != Claim::Phase::held) return;
  // A late grant in the round that the deadline rests on: one more node has the key.
  ValidityBasis& basis = claim.lease(me).basis;
  if (round == basis.round) basis.nodes.add(node);
}

void KeyNotes::note_position(Claim& claim, const Answer& answer) {
  const bool queues = answer.stamp.verb == Verb::take || answer.stamp.verb == Verb::take_permit;
  if (!queues || !claim.work->position->ticket) return;
  if (claim.work->position->unanswered.has(answer.node)) {
    claim.work->position.by(me).unanswered.remove(answer.node);
    const bool taken_out = answer.reply == Reply::granted || answer.reply == Reply::behind;
    if (taken_out || answer.reply == Reply::failed) return;
    const std::uint32_t permits = claim.terms().permits;
    const std::string_view queue =
        permits > 0 ? permits_prefix(claim.resource()) : claim.resource();
    return wait_queue_.queued_for_nothing(queue, permits, answer.node);
  }
  // The acquisition may be over by now, and its slot may be reused.
  const Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  const bool is_its = acquisition.live && acquisition.claim == claim.id() &&
                      acquisition.state != Acquisition::State::over;
  if (!is_its) return;
  wait_queue_.answered_attempt(acquisition, answer, claim.phase == Claim::Phase::acquiring);
}

void KeyNotes::note_obstacle(const Claim& claim, const Answer& answer) {
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  if (claim.terms().traits().is_chosen) return acquisition.note_free_permits(me, answer.text);
  // Holds, or a server that does not name the holder: readers may be in the way, and only a script
  // can keep new readers out. One such answer is enough: the next attempts use the script.
  const bool holds = is_group(answer.text);
  if (answer.text.empty() || holds) acquisition.by_script.by(me) = true;
}

void KeyNotes::give_orphan_expiry(Claim& claim, const Answer& answer) {
  if (answer.reply != Reply::taken || answer.remaining || !claim.terms().orphan_ttl) return;
  sender_.send(claim, Verb::expire_orphan, NodeSet::of(answer.node));
}

void KeyNotes::forget_key(Claim& claim, const Answer& answer) {
  // After an answer to an earlier round, a request that gives the node the key may be under way.
  if (answer.stamp.round() == claim.round->number()) claim.keys.by(me).absent(answer.node);
}

void KeyNotes::fencing_answered(Claim& claim, const Answer& answer) {
  if (!fencing_.answered(claim, answer)) return;
  NodeSet& asked = claim.fencing(me)->asked;
  asked = asked | sender_.send(claim, Verb::raise_fence, NodeSet::of(answer.node));
}

// --- a key that is ours -------------------------------------------------------------------------

void KeyNotes::extend_answered(Claim& claim, const Answer& answer) {
  claim.keys.by(me).extend_answered(answer.node);
  if (answer.reply == Reply::failed) claim.keys.by(me).write_unanswered(answer.node);
  if (answer.reply == Reply::extended && voters_.extends(claim, answer.node)) {
    claim.keys.by(me).voted(answer.node);
    note_in_basis(claim, answer.node, answer.stamp.round());
  } else if (answer.reply != Reply::error && answer.reply != Reply::script_missing &&
             answer.reply != Reply::script_needed) {
    claim.keys.by(me).vote_forgotten(answer.node);
  }
  if (answer.reply == Reply::extended || answer.reply == Reply::repaired) {
    // The key may have been written only now, and its release may be refused: its TTL counts from
    // now.
    claim.keys.by(me).may_be_written_until(now_);
    owed_releases_.written(claim, answer.node);
  }
  claim.is_hold.by(me) = claim.is_hold || answer.holds.has_value();
  // An error changes nothing on the node. Only an explicit answer means that the node does not have
  // our key; if the lease has several resources, the node may have lost one of them and keep
  // others.
  const bool says_that_nothing_is_left =
      (answer.reply == Reply::gone || answer.reply == Reply::taken) &&
      claim.terms().more_resources.empty();
  if (says_that_nothing_is_left) forget_key(claim, answer);
  const bool decided = claim.task != Claim::Task::extend;
  if (answer.reply == Reply::gone && decided) repair(claim, NodeSet::of(answer.node));
}

void KeyNotes::repair(Claim& claim, NodeSet nodes) {
  if (!nodes.empty() && may_repair(claim, nodes)) sender_.send(claim, Verb::extend_or_set, nodes);
}

bool KeyNotes::may_repair(const Claim& claim, NodeSet nodes) const {
  // A downgrade repairs nothing, because the lease may be released after it.
  if (now_ >= *claim.valid_until || claim.verb != Verb::extend) return false;
  const Round& round = claim.round;
  if (claim.phase == Claim::Phase::held) {
    // Nodes that did not answer may have the key: the lease can still be extended. The answer of
    // one of `nodes` may have come too late to be its vote.
    return (round.with(Vote::refused) | nodes).size() <= round.spare();
  }
  // Without a quorum that has the key, a repair could revive a lost lock. The group of a hold is
  // unknown.
  return claim.purpose == Claim::Purpose::extend && round.verdict() == Verdict::won &&
         !claim.is_hold;
}

void KeyNotes::release_answered(Claim& claim, const Answer& answer) {
  if (answer.queued) sender_.notify_queued(claim, answer.node);
  if (claim.by_operator && answer.reply == Reply::released) {
    sender_.send(claim, Verb::write_audit, NodeSet::of(answer.node));
  }
  owed_releases_.answered(claim, answer);
}

}  // namespace redlock::core
