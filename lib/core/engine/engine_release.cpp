#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/claim/validity.hpp"
#include "core/engine/engine.hpp"

/// How a lease ends, and how its key leaves the nodes: with KeyLedger, all of who releases a key,
/// and when.
namespace redlock::core {
namespace {

KeyLedger::Release outcome_of_release(Reply reply) {
  if (reply == Reply::failed) return KeyLedger::Release::unanswered;
  const bool done = reply == Reply::released || reply == Reply::gone || reply == Reply::taken;
  return done ? KeyLedger::Release::done : KeyLedger::Release::refused;
}

}  // namespace

void Engine::on(const Release& event) {
  Claim* claim = claims_.find(event.claim.index, event.claim.generation);
  if (claim == nullptr || claim->phase != Claim::Phase::held) {
    return fail(event.request, closing_.has_begun() ? Errc::closed : Errc::not_holder, nullptr);
  }
  // Without their round: the release's begins in its place.
  fail_requests(*claim, Errc::cancelled, nullptr);
  begin_release(*claim, event.request);
}

void Engine::begin_release(Claim& claim, CallId request) {
  voters_.begin_round(claim, claim.round.next_number(), claim.round.ttl());
  if (request != CallId::none) {
    claim.work->requests.push_back(request);
    claim.task = Claim::Task::release;
  }
  // A quorum is to count the holds that are left.
  if (claim.terms().traits().has_holds) claim.keys.assume_present(nodes_.all());
  const NodeSet held = claim.keys.present();
  clear(claim);
  if (request == CallId::none) return;
  (nodes_.all() - held).each([&](NodeIndex node) { claim.round.record(node, Vote::refused, {}); });
  claim.keys.to_release().each([&](NodeIndex node) {
    // A node that is up was not asked because it owes too many answers, whether it may vote or not.
    const Link& link = nodes_[node];
    if (link.up() && !link.read_only())
      claim.round.record(node, Vote::timeout, {too_many_unanswered});
    if (link.fresh()) claim.round.record(node, Vote::unreachable, {not_connected_yet});
    nodes_.record_absent(claim.round, node, Duration::zero());
  });
  touch_if_decided(claim);
}

void Engine::end_lease(Claim& claim) {
  if (claim.phase == Claim::Phase::held) {
    meter_.lease_ended(now_ - claim.granted_at);
    queue_watch_.end(claim);
    claims_.lease_ended(claim);
  }
  // Renewal ends before a release is sent, so that a late one cannot revive the key.
  claim.phase = Claim::Phase::cleaning_up;
}

void Engine::clear(Claim& claim, NodeSet unanswered) {
  if (claim.task != Claim::Task::release) claim.task = Claim::Task::none;
  end_lease(claim);
  claim.unasked = NodeSet();
  if (claim.cooldown(now_) > Duration::zero()) {
    // Every node keeps what is left of the interval, also one that missed the lease: else one that
    // forgets could make a free majority with those. A node that cannot be reached is not owed it
    // for as long as an interval may be.
    claim.keys.assume_present(nodes_.all());
    claim.keys.owe_until(gone_by(now_, settings_.max_ttl));
  }
  claim.keys.owe_release_but_for(unanswered);
  wait_queue_.measure_reservation();
  send_owed(claim);
  inspect(observers_.changed_by_us(claim));
  retime(claim);
  touch_if_decided(claim);
}

Duration Engine::owed_pause() const {
  // A client that closes does not wait longer than that.
  return closing_.has_begun() ? settings_.longest_limit / 16 : settings_.longest_limit;
}

void Engine::send_owed(Claim& claim) {
  // When the interval is over, nothing is owed to a node that does not have our key.
  if (claim.cooldown(now_) == Duration::zero()) claim.keys.forgive_absent();
  claim.keys.release_sent(
      transmit(claim, claim.release_verb(), claim.keys.to_release(), ScriptForm::digest));
  claim.keys.resend_at(later(now_, owed_pause()));
}

void Engine::judge_release(Claim& claim) {
  // Enough: a majority is free of it, whatever the others will say.
  const std::size_t released = claim.round.grants();
  const bool complete = claim.round.pending().empty();
  if (released >= claim.round.quorum()) return release_decided(claim, std::nullopt);
  const std::size_t clean = released + claim.round.with(Vote::refused).size();
  if (clean >= claim.round.quorum() && (released > 0 || complete)) {
    return release_decided(claim, released > 0 ? std::nullopt : std::optional(Errc::not_holder));
  }
  if (complete) release_decided(claim, Errc::unavailable);
}

void Engine::release_decided(Claim& claim, std::optional<Errc> problem) {
  claim.task = Claim::Task::none;
  claim.phase = Claim::Phase::cleaning_up;
  for (const CallId request : claim.work->requests) {
    if (problem) {
      fail(request, *problem, &claim.round);
      continue;
    }
    outbox_.emit(Released{request, claim.id(), &claim.round, now_ - claim.round.start()});
  }
  claim.work->requests.clear();
}

void Engine::on(const Detach& event) {
  Claim* claim = claims_.find(event.claim.index, event.claim.generation);
  if (claim == nullptr || claim->phase != Claim::Phase::held) return;
  fail_requests(*claim, Errc::cancelled, &claim->round);
  claim->task = Claim::Task::none;
  end_lease(*claim);
  names_.note_detached();
  claim->keys.hand_over();
  retime(*claim);
  touch(*claim);
}

void Engine::note_release(Claim& claim, const Answer& answer) {
  const NodeIndex node = answer.node;
  if (answer.queued) notify_queued(claim, node);
  if (claim.by_operator && answer.reply == Reply::released) {
    transmit(claim, Verb::write_audit, NodeSet::of(node), ScriptForm::digest);
  }
  const KeyLedger::Release outcome = outcome_of_release(answer.reply);
  claim.keys.release_answered(node, outcome);
  // Of an exclusive lock that is gone, others may hold the resource: that is not ours to count.
  if (answer.holds &&
      (claim.terms().traits().has_holds || claim.task == Claim::Task::release_by_token)) {
    claim.work->holds_left = std::max(claim.work->holds_left.value_or(0), answer.holds->count);
  }
  // Undone behind a SET that was never counted (see undo_behind_sets); the lease itself goes on.
  const bool goes_on = claim.phase == Claim::Phase::held || claim.phase == Claim::Phase::acquiring;
  if (goes_on) return;
  if (!claim.keys.present().has(node)) return note_cooldown(claim, answer);
  claim.keys.release_again(node, outcome, gone_by(now_, settings_.max_ttl));
  claim.keys.resend_at(later(now_, nodes_[node].limit()));
}

void Engine::note_cooldown(Claim& claim, const Answer& answer) {
  const bool written = answer.reply == Reply::released || answer.reply == Reply::gone;
  if (written || claim.cooldown(now_) == Duration::zero()) return;
  // The key of another attempt is in the way, mostly for a moment only: the node is asked again,
  // less and less often.
  claim.keys.owe_release(NodeSet::of(answer.node));
  const Duration pause = std::max(nodes_[answer.node].limit(), (now_ - claim.round.start()) / 2);
  claim.keys.resend_at(later(now_, std::min(pause, owed_pause())));
}

void Engine::release_late(Claim& claim, NodeIndex node) {
  const bool over = claim.phase == Claim::Phase::cleaning_up;
  if (!over || !claim.keys.wants_release(node)) return;
  // It was not expected to grant any more (see lose_attempt). Or its release found no room behind
  // the request, and was given up when the key had to be gone.
  claim.keys.owe_release(NodeSet::of(node));
  if (claim.purpose == Claim::Purpose::acquire) {
    // A later attempt queues its client by itself.
    const Acquisition& acquisition = acquisitions_.at(claim.acquisition);
    if (!acquisition.live || acquisition.claim != claim.id()) claim.queue_no_more();
  }
  send_owed(claim);
  retime(claim);
}

void Engine::settle_on_replica(NodeIndex node) {
  // Nothing of an earlier connection is executed there any more, and what was expires; or its role
  // changes first, and it gets the release.
  if (!nodes_[node].read_only() || !nodes_[node].suspects().empty()) return;
  claims_.each_unsettled([&](Claim& claim) {
    if (!(claim.keys.to_release() & claim.keys.indeterminate()).has(node)) return;
    claim.keys.release_again(node, KeyLedger::Release::refused, gone_by(now_, settings_.max_ttl));
    retime(claim);
    touch(claim);
  });
}

void Engine::undo_behind_sets(NodeIndex node) {
  // A reset throws away what this machine has not delivered yet. What the server's kernel has
  // already taken is executed when a stopped server goes on, whether we are still there then or
  // not: so the release goes behind each SET that nobody will count.
  claims_.each_unsettled([&](Claim& claim) {
    if (!claim.keys.wants_undo(node)) return;
    // A lease that is held, or was handed on, may be given the key there again by an extend:
    // nothing that deletes it may be on its way.
    if (claim.phase == Claim::Phase::held) return;
    claim.keys.undo_sent(transmit(claim, Verb::release, NodeSet::of(node), ScriptForm::digest));
  });
}

}  // namespace redlock::core
