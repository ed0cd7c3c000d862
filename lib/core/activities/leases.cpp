#include "core/activities/leases.hpp"

#include <algorithm>

#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {

void Leases::extend(const Extend& event) {
  Claim* claim = claims_.find(event.claim);
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  if (claim == nullptr || claim->phase != Claim::Phase::held) {
    return failures_.fail(event.request, Errc::not_holder, nullptr);
  }
  idle_leases_.wake(*claim);
  claim->work->queued.by(me).push_back({event.request, event.ttl});
  if (claim->task == Claim::Task::none) start_queued_extend(*claim);
}

void Leases::start_queued_call(Claim& claim) {
  if (!claim.work->downgrades->empty()) return begin_downgrade(claim);
  start_queued_extend(claim);
}

void Leases::start_queued_extend(Claim& claim) {
  Duration longest{};
  for (const Claim::QueuedExtend& queued : *claim.work->queued)
    longest = std::max(longest, queued.ttl);
  const std::optional<Duration> ttl = claim.lease().renewal.allow(now_, longest);
  for (const Claim::QueuedExtend& queued : *claim.work->queued) {
    if (ttl) {
      claim.work->requests.by(me).push_back(queued.request);
    } else {
      failures_.fail(queued.request, Errc::limit_reached, nullptr);
    }
  }
  claim.work->queued.by(me).clear();
  if (ttl) begin_extend(claim, Verb::extend, *ttl);
}

void Leases::begin_extend(Claim& claim, Verb verb, Duration ttl) {
  claim.task.by(me) = Claim::Task::extend;
  claim.verb.by(me) = verb;
  claim.unasked.by(me) = NodeSet();
  if (claim.phase == Claim::Phase::held) names_.outlast(ttl);
  voters_.begin_round(claim, claim.round->next_number(), ttl);
  claim.work->steps.by(me) = nodes_.steps();
  rounds_.ask(claim);
  if (claim.phase == Claim::Phase::held) {
    // A node in first contact is given the key by a later extend; this round does not wait for it.
    claim.unasked->each([&](NodeIndex node) {
      claim.round.by(me).record(node, Vote::unreachable, {not_connected_yet});
      meter_.did_not_answer(node, Vote::unreachable);
    });
    claim.unasked.by(me) = NodeSet();
  }
  agenda_.touch(claim);
}

ValidityBasis Leases::basis_of_round(const Claim& claim) {
  return {claim.round->number(), claim.round->granted(),
          static_cast<std::uint8_t>(claim.round->quorum()), claim.work->steps,
          valid_until(claim.round->start(), claim.round->ttl())};
}

void Leases::judge(Claim& claim) {
  const Verdict verdict = claim.round->verdict();
  if (verdict == Verdict::pending) return;
  claim.task.by(me) = Claim::Task::none;
  if (claim.verb == Verb::downgrade) return judge_downgrade(claim);
  const bool by_token = claim.phase == Claim::Phase::by_token;
  const ValidityBasis basis = basis_of_round(claim);
  const Instant deadline = basis.deadline(nodes_.steps(), basis.votes_needed);
  // The event may have shown a step of a clock that has ended the lease.
  if (claim.phase == Claim::Phase::held && now_ >= *claim.valid_until) return lose(claim);
  // A clock step that was noticed during the round also lowers the deadline of an extend by token.
  if (verdict == Verdict::won && by_token)
    claim.valid_until.by(me) = std::min(*claim.valid_until, deadline);
  if (verdict == Verdict::won && by_token && now_ >= *claim.valid_until) {
    failures_.fail_all(claim, Errc::expired, &*claim.round);
  } else if (verdict == Verdict::won && by_token && claim.work->adopted && claim.is_hold &&
             !claim.terms().traits().has_holds) {
    // The lease would count as exclusive, but others may hold the lock, too.
    failures_.fail_all(claim, Errc::not_holder, &*claim.round);
  } else if (verdict == Verdict::won && by_token && claim.work->adopted && claim.fencing() &&
             !claim.terms().traits().has_holds) {
    check_fencing_number(claim);
  } else if (verdict == Verdict::won) {
    extend_won(claim, basis, deadline);
  } else {
    extend_lost(claim);
    // Nothing is released: what was granted lasts until its deadline.
    if (!by_token) {
      meter_.renewal_failed();
      claim.lease(me).renewal.failed(now_, claim.valid_until);
    }
    claim.unasked.by(me) = NodeSet();
  }
  key_notes_.repair(claim, claim.round->gone());
  // A claim that was adopted is held now, and goes on.
  if (claim.phase == Claim::Phase::by_token && claim.task == Claim::Task::none) {
    claim.phase.by(me) = Claim::Phase::cleaning_up;
  }
  agenda_.retime(claim);
}

void Leases::extend_won(Claim& claim, const ValidityBasis& basis, Instant deadline) {
  if (claim.phase == Claim::Phase::held) {
    REDLOCK_ASSERT(now_ < *claim.valid_until);
    meter_.renewed();
    Claim::Lease& lease = claim.lease(me);
    if (deadline > *claim.valid_until) {
      lease.basis = basis;
      claim.move_deadline(me, deadline);
    }
    if (claim.work->requests->empty()) {
      lease.renewal.succeeded(claim.round->start());
    } else {
      lease.renewal.extended_by_hand(claim.valid_until);
    }
    if (deadline < basis.until) lease.renewal.be_due(now_);
  }
  if (claim.work->adopted && claim.phase == Claim::Phase::by_token) return adopt(claim);
  Extended outcome{CallId::none, claim.id(), &*claim.round, now_ - claim.round->start(),
                   claim.valid_until};
  outbox_.emit(outcome);  // the lease learns of its deadline before the callers do
  for (const CallId request : *claim.work->requests) {
    outcome.request = request;
    outbox_.emit(outcome);
  }
  claim.work->requests.by(me).clear();
}

void Leases::extend_lost(Claim& claim) {
  const std::size_t refused = claim.round->with(Vote::refused).size();
  const bool not_ours = refused + claim.round->quorum() > settings_.nodes.size();
  for (const CallId request : *claim.work->requests) {
    failures_.fail(request, not_ours ? Errc::not_holder : Errc::unavailable, &*claim.round);
  }
  claim.work->requests.by(me).clear();
}

void Leases::begin(Claim& claim, const ValidityBasis& basis,
                   const std::optional<RenewalLimits>& limits) {
  Claim::Lease& lease = claim.lease(me);
  lease.basis = basis;
  lease.renewal.begin(limits, claim.round->start(), claim.round->ttl());
  if (claims_.leases() > settings_.most_in_step) {
    // The digits of a token are random.
    lease.renewal.spread(static_cast<std::uint16_t>(hash_of(claim.token())));
  }
  if (*claim.valid_until < basis.until) lease.renewal.be_due(now_);
  agenda_.retime(claim);
}

// --- adoption ------------------------------------------------------------------------------------

/// Late requests may have returned the key to nodes, while somebody else had the lock in between:
/// see tools/docs/design/by-token.md. The nodes that have the key know of a larger number then.
void Leases::check_fencing_number(Claim& claim) {
  claim.task.by(me) = Claim::Task::fence;
  const NodeSet granted = claim.round->granted() & nodes_.up();
  fencing_.asked(claim, sender_.send(claim, Verb::raise_fence, granted));
  agenda_.touch(claim);
}

/// A quorum still had the key, and keeps it for us: a lease like any other from here on.
void Leases::adopt(Claim& claim) {
  const ValidityBasis basis = basis_of_round(claim);
  // A clock may have stepped since the round was decided.
  claim.valid_until.by(me) =
      std::min(*claim.valid_until, basis.deadline(nodes_.steps(), basis.votes_needed));
  if (now_ >= *claim.valid_until) return not_adopted(claim, Errc::expired);
  claim.task.by(me) = Claim::Task::none;
  claim.purpose.by(me) = Claim::Purpose::acquire;
  claim.phase.by(me) = Claim::Phase::held;
  claim.was_adopted.by(me) = true;
  claim.unasked.by(me) = NodeSet();
  claims_.lease_began(claim);
  claim.granted_at.by(me) = now_;
  // Any node may have the key, and its previous owner may have given it a longer expiry.
  claim.keys.by(me).assume_present(nodes_.all());
  claim.keys.by(me).expires_by(gone_by(now_, settings_.max_ttl));
  begin(claim, basis, *claim.work->adopted);
  names_.outlast(claim.round->ttl());
  const CallId request = claim.work->requests->front();
  claim.work->requests.by(me).clear();
  outbox_.emit(
      Acquired{request, claim.id(), &*claim.round, now_ - claim.round->start(), claim.valid_until});
}

void Leases::not_adopted(Claim& claim, Errc why) {
  failures_.fail_all(claim, why, &*claim.round);
  claim.task.by(me) = Claim::Task::none;
  claim.phase.by(me) = Claim::Phase::cleaning_up;
}

// --- downgrade -----------------------------------------------------------------------------------

void Leases::downgrade(const Downgrade& event) {
  Claim* claim = claims_.find(event.claim);
  if (closing_.has_begun()) return failures_.fail(event.request, Errc::closed, nullptr);
  if (claim == nullptr || claim->phase != Claim::Phase::held) {
    return failures_.fail(event.request, Errc::not_holder, nullptr);
  }
  REDLOCK_ASSERT(claim->terms().kind() == Kind::exclusive || claim->terms().kind() == Kind::shared);
  idle_leases_.wake(*claim);
  claim->downgrade(me);
  claim->work->downgrades.by(me).push_back(event.request);
  if (claim->task == Claim::Task::none) begin_downgrade(*claim);
}

void Leases::begin_downgrade(Claim& claim) {
  claim.work->requests.by(me).swap(claim.work->downgrades.by(me));
  wait_queue_.measure_reservation();
  begin_extend(claim, Verb::downgrade, claim.round->ttl());
  inspections_.observe(observers_.changed_by_us(claim));
}

/// The deadline stays as it is, whether the round is won or lost: it rests on the nodes' keys in
/// either form.
void Leases::judge_downgrade(Claim& claim) {
  const bool by_token = claim.phase == Claim::Phase::by_token;
  if (!by_token && now_ >= *claim.valid_until) return lose(claim);
  if (by_token && now_ >= *claim.valid_until) {
    failures_.fail_all(claim, Errc::not_holder, &*claim.round);
  } else if (claim.round->verdict() == Verdict::won) {
    Extended outcome{CallId::none, claim.id(), &*claim.round, now_ - claim.round->start(),
                     by_token ? now_ : *claim.valid_until};
    for (const CallId request : *claim.work->requests) {
      outcome.request = request;
      outbox_.emit(outcome);
    }
    claim.work->requests.by(me).clear();
  } else {
    extend_lost(claim);
    claim.unasked.by(me) = NodeSet();
  }
  if (by_token) claim.phase.by(me) = Claim::Phase::cleaning_up;
  agenda_.retime(claim);
}

// --- time ----------------------------------------------------------------------------------------

void Leases::watch_queue(const WatchQueue& event) {
  Claim* const claim = claims_.find(event.claim);
  if (claim != nullptr && claim->phase == Claim::Phase::held) queue_watch_.begin(*claim);
}

void Leases::lose(Claim& claim) {
  REDLOCK_ASSERT(claim.phase == Claim::Phase::held && now_ >= *claim.valid_until);
  failures_.fail_all(claim, Errc::not_holder, &*claim.round);
  meter_.lease_lost();
  outbox_.emit(Lost{claim.id(), &*claim.round});
  // A failed extend may have raised the expiry on a minority: without a release, that key would
  // outlive the lease. But the holder may have handed the lease on before its deadline.
  claim.task.by(me) = Claim::Task::none;
  claim.unasked.by(me) = NodeSet();
  releases_.end_lease(claim, Claim::Phase::lost);
  agenda_.retime(claim);
}

void Leases::warn(Claim& claim) {
  const auto at = claim.lease().renewal.warn_at(claim.valid_until);
  if (!at || now_ < *at) return;
  claim.lease(me).renewal.warned();
  outbox_.emit(AtRisk{claim.id()});
}

void Leases::fire(Claim& claim) {
  if (now_ >= *claim.valid_until) return lose(claim);
  warn(claim);
  if (claim.task == Claim::Task::none && claim.has_queued_calls()) {
    start_queued_call(claim);
  } else if (claim.task == Claim::Task::none && claim.lease().renewal.is_due(now_)) {
    if (const auto ttl = claim.lease(me).renewal.ask(now_, claim.valid_until)) {
      begin_extend(claim, Verb::extend, *ttl);
    }
  }
  agenda_.retime(claim);
  agenda_.touch(claim);
}

void Leases::lower_deadlines() {
  nodes_.note_step();
  const SharedMarks& marks = nodes_.steps();
  claims_.each([&](Claim& claim) {
    if (claim.finished || claim.phase != Claim::Phase::held) return;
    Claim::Lease& lease = claim.lease(me);
    const Instant until = lease.basis.deadline(marks, lease.basis.votes_needed);
    if (until >= *claim.valid_until) return;
    claim.move_deadline(me, until);
    lease.renewal.be_due(now_);
    outbox_.emit(Extended{CallId::none, claim.id(), &*claim.round, Duration::zero(), until});
    agenda_.retime(claim);
  });
}

}  // namespace redlock::core
