#include "core/duties/owed_releases.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"

namespace redlock::core {
namespace {

KeyLedger::Release outcome_of_release(Reply reply) {
  if (reply == Reply::failed) return KeyLedger::Release::unanswered;
  const bool done = reply == Reply::released || reply == Reply::gone || reply == Reply::taken;
  return done ? KeyLedger::Release::done : KeyLedger::Release::refused;
}

}  // namespace

Duration OwedReleases::pause() const {
  // The grace of a client that closes is no longer than the limit, so it repeats releases sooner.
  return closing_.has_begun() ? settings_.longest_limit / 16 : settings_.longest_limit;
}

void OwedReleases::send(Claim& claim) {
  // When the interval is over, nothing is owed to a node that does not have our key.
  if (claim.cooldown(now_) == Duration::zero()) claim.keys.by(me).forgive_absent();
  claim.keys.by(me).release_sent(
      sender_.send(claim, claim.release_verb(), claim.keys->to_release()));
  claim.keys.by(me).resend_at(later(now_, pause()));
}

void OwedReleases::came_up(Claim& claim) {
  claim.queue_no_more(me);
  send(claim);
  // A release that did not fit on the connection has to be sent later. One that only keeps an
  // interval is not sent after the interval is over.
  agenda_.retime(claim);
  agenda_.touch(claim);
}

void OwedReleases::fire(Claim& claim) {
  claim.keys.by(me).expire(now_);
  claim.queue_no_more(me);
  if (claim.keys->resend_due(now_)) send(claim);
}

void OwedReleases::written(Claim& claim, NodeIndex node) {
  const bool over = claim.phase == Claim::Phase::cleaning_up;
  if (!over || !claim.keys->wants_release(node)) return;
  // The node was no longer expected to grant (see Attempts::lose). Or its release did not fit
  // on the connection after the request, and was given up when the key should have expired.
  claim.keys.by(me).owe_release(NodeSet::of(node));
  if (claim.purpose == Claim::Purpose::acquire) {
    // If the acquisition has a later attempt, that attempt queues the client.
    const Acquisition& acquisition = acquisitions_.at(claim.acquisition);
    if (!acquisition.live || acquisition.claim != claim.id()) claim.queue_no_more(me);
  }
  send(claim);
  agenda_.retime(claim);
}

void OwedReleases::answered(Claim& claim, const Answer& answer) {
  const NodeIndex node = answer.node;
  const KeyLedger::Release outcome = outcome_of_release(answer.reply);
  claim.keys.by(me).release_answered(node, outcome);
  // After an exclusive lock is gone, others may hold the resource: their holds are not ours to
  // count.
  if (answer.holds &&
      (claim.terms().traits().has_holds || claim.task == Claim::Task::release_by_token)) {
    claim.work->holds_left.by(me) =
        std::max(claim.work->holds_left.read().value_or(0), answer.holds->count);
  }
  // The release undid a SET that was never counted (see undo_sets); the claim itself goes on.
  const bool goes_on = claim.has_holder() || claim.phase == Claim::Phase::acquiring;
  if (goes_on) return;
  if (!claim.keys->present().has(node)) return note_cooldown(claim, answer);
  claim.keys.by(me).release_again(node, outcome, gone_by(now_, settings_.max_ttl));
  claim.keys.by(me).resend_at(later(now_, nodes_[node].in_flight->limit()));
}

void OwedReleases::note_cooldown(Claim& claim, const Answer& answer) {
  const bool written = answer.reply == Reply::released || answer.reply == Reply::gone;
  if (written || claim.cooldown(now_) == Duration::zero()) return;
  // The key of another attempt is in the way, mostly for a moment only: the node is asked again, at
  // growing intervals.
  claim.keys.by(me).owe_release(NodeSet::of(answer.node));
  const Duration longer =
      std::max(nodes_[answer.node].in_flight->limit(), (now_ - claim.round->start()) / 2);
  claim.keys.by(me).resend_at(later(now_, std::min(longer, pause())));
}

void OwedReleases::acknowledged(NodeIndex node) {
  // On a replica, the key expires, or the role changes first and the node is sent the release.
  if (!nodes_[node].read_only() || !nodes_[node].contact->suspects().empty()) return;
  claims_.each_pending([&](Claim& claim) {
    if (!(claim.keys->to_release() & claim.keys->indeterminate()).has(node)) return;
    claim.keys.by(me).release_again(node, KeyLedger::Release::refused,
                                    gone_by(now_, settings_.max_ttl));
    agenda_.retime(claim);
    agenda_.touch(claim);
  });
}

void OwedReleases::undo_sets(NodeIndex node) {
  // A reset discards what this machine has not delivered. The kernel of a stopped server may have
  // received more: the server executes that when it goes on, even if this client is gone by then.
  claims_.each_pending([&](Claim& claim) {
    if (!claim.keys->wants_undo(node)) return;
    // An extend may give the node the key of a held or handed-on lease again: nothing that deletes
    // the key may be on its way.
    if (claim.has_holder()) return;
    claim.keys.by(me).undo_sent(sender_.send(claim, Verb::release, NodeSet::of(node)));
  });
}

}  // namespace redlock::core
