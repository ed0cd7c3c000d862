#include "core/activities/releases.hpp"

#include "core/votes/validity.hpp"

namespace redlock::core {

void Releases::release(const Release& event) {
  Claim* claim = claims_.find(event.claim);
  if (claim == nullptr || !claim->has_holder()) {
    return failures_.fail(event.request, closing_.has_begun() ? Errc::closed : Errc::not_holder,
                          nullptr);
  }
  // These failures carry no round, because the round of the release replaces theirs.
  failures_.fail_all(*claim, Errc::cancelled, nullptr);
  begin(*claim, event.request);
}

void Releases::begin(Claim& claim, CallId request) {
  voters_.begin_round(claim, claim.round->next_number(), claim.round->ttl());
  if (request != CallId::none) {
    claim.work->requests.by(me).push_back(request);
    claim.task.by(me) = Claim::Task::release;
  }
  // All nodes are asked. A quorum has to count the holds that are left. And if the token has been
  // in other hands, another call may have repaired a node that told this claim that it has no key.
  if (claim.terms().traits().has_holds || claim.was_adopted)
    claim.keys.by(me).assume_present(nodes_.all());
  const NodeSet held = claim.keys->present();
  clear(claim);
  if (request == CallId::none) return;
  (nodes_.all() - held).each([&](NodeIndex node) {
    claim.round.by(me).record(node, Vote::refused, {});
  });
  claim.keys->to_release().each([&](NodeIndex node) {
    // A node that is up was not asked because it owes too many answers, whether it may vote or not.
    const Link& link = nodes_[node];
    if (link.up() && !link.read_only())
      claim.round.by(me).record(node, Vote::timeout, {too_many_unanswered});
    if (link.contact->fresh())
      claim.round.by(me).record(node, Vote::unreachable, {not_connected_yet});
    nodes_.record_absent(claim.round.by(me), node, Duration::zero());
  });
  agenda_.touch_if_decided(claim);
}

void Releases::end_lease(Claim& claim, Claim::Phase next) {
  if (claim.phase == Claim::Phase::held) {
    meter_.lease_ended(now_ - *claim.granted_at);
    queue_watch_.end(claim);
    claims_.lease_ended(claim);
  }
  // Renewal ends before a release is sent, so that a late one cannot revive the key.
  claim.phase.by(me) = next;
}

void Releases::clear(Claim& claim, NodeSet unanswered) {
  if (claim.task != Claim::Task::release) claim.task.by(me) = Claim::Task::none;
  end_lease(claim, Claim::Phase::cleaning_up);
  claim.unasked.by(me) = NodeSet();
  if (claim.cooldown(now_) > Duration::zero()) {
    // Every node keeps the rest of the interval, even a node that missed the lease: otherwise those
    // nodes and one that forgets could be a free majority. An interval can be long, but nodes that
    // cannot be reached are owed it only for the max TTL.
    claim.keys.by(me).assume_present(nodes_.all());
    claim.keys.by(me).owe_until(gone_by(now_, settings_.max_ttl));
  }
  claim.keys.by(me).owe_release_but_for(unanswered);
  wait_queue_.measure_reservation();
  owed_releases_.send(claim);
  inspections_.observe(observers_.changed_by_us(claim));
  agenda_.retime(claim);
  agenda_.touch_if_decided(claim);
}

void Releases::judge(Claim& claim) {
  // A quorum of releases is enough: no answer of the other nodes changes that.
  const std::size_t released = claim.round->grants();
  const bool complete = claim.round->pending().empty();
  if (released >= claim.round->quorum()) return decide(claim, std::nullopt);
  const std::size_t clean = released + claim.round->with(Vote::refused).size();
  if (clean >= claim.round->quorum() && (released > 0 || complete)) {
    return decide(claim, released > 0 ? std::nullopt : std::optional(Errc::not_holder));
  }
  if (complete) decide(claim, Errc::unavailable);
}

void Releases::decide(Claim& claim, std::optional<Errc> problem) {
  claim.task.by(me) = Claim::Task::none;
  claim.phase.by(me) = Claim::Phase::cleaning_up;
  for (const CallId request : *claim.work->requests) {
    if (problem) {
      failures_.fail(request, *problem, &*claim.round);
      continue;
    }
    outbox_.emit(Released{request, claim.id(), &*claim.round, now_ - claim.round->start()});
  }
  claim.work->requests.by(me).clear();
}

void Releases::detach(const Detach& event) {
  Claim* claim = claims_.find(event.claim);
  if (claim == nullptr || !claim->has_holder()) return;
  failures_.fail_all(*claim, Errc::cancelled, &*claim->round);
  claim->task.by(me) = Claim::Task::none;
  end_lease(*claim, Claim::Phase::cleaning_up);
  names_.note_detached();
  claim->keys.by(me).hand_over();
  agenda_.retime(*claim);
  agenda_.touch(*claim);
}

void Releases::begin_by_token(Claim& claim) {
  claim.task.by(me) = Claim::Task::release_by_token;
  claim.verb.by(me) = claim.release_verb();
  voters_.begin_round(claim, 1, settings_.max_ttl);
  claim.keys.by(me).expires_by(gone_by(now_, settings_.max_ttl));
  claim.keys.by(me).assume_present(nodes_.all());
  claim.unasked.by(me) = NodeSet();
  const NodeSet asked = rounds_.ask(claim);
  claim.keys.by(me).owe_release(claim.keys->present() - asked - claim.unasked);
  agenda_.touch(claim);
}

void Releases::judge_by_token(Claim& claim) {
  const std::size_t released = claim.round->granted().size();
  const std::size_t refused = claim.round->with(Vote::refused).size();
  if (released >= claim.round->quorum()) return decide(claim, std::nullopt);
  // Nodes that did not answer may have had it: only the others prove that it had no majority.
  if (settings_.nodes.size() - refused < claim.round->quorum()) {
    return decide(claim, Errc::not_holder);
  }
  if (!claim.round->pending().empty()) return;
  // A node without the key keeps nobody out.
  const bool delayed = *claim.work->delay > Duration::zero();
  const bool clean = !delayed && released > 0 && released + refused >= claim.round->quorum();
  decide(claim, clean ? std::nullopt : std::optional(Errc::unavailable));
}

}  // namespace redlock::core
