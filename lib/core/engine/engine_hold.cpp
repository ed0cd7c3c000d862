#include <algorithm>

#include "core/engine/engine.hpp"
#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {

// --- extend -----------------------------------------------------------------------------------

void Engine::on(const Extend& event) {
  Claim* claim = claims_.find(event.claim);
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  if (claim == nullptr || claim->phase != Claim::Phase::held) {
    return fail(event.request, Errc::not_holder, nullptr);
  }
  idle_leases_.wake(*claim);
  claim->work->queued.push_back({event.request, event.ttl});
  if (claim->task == Claim::Task::none) start_queued_extend(*claim);
}

void Engine::start_queued_call(Claim& claim) {
  if (!claim.work->downgrades.empty()) return begin_downgrade(claim);
  start_queued_extend(claim);
}

void Engine::start_queued_extend(Claim& claim) {
  Duration longest{};
  for (const Claim::QueuedExtend& queued : claim.work->queued)
    longest = std::max(longest, queued.ttl);
  const std::optional<Duration> ttl = claim.lease().renewal.allow(now_, longest);
  for (const Claim::QueuedExtend& queued : claim.work->queued) {
    if (ttl) {
      claim.work->requests.push_back(queued.request);
    } else {
      fail(queued.request, Errc::limit_reached, nullptr);
    }
  }
  claim.work->queued.clear();
  if (ttl) begin_extend(claim, Verb::extend, *ttl);
}

void Engine::begin_extend(Claim& claim, Verb verb, Duration ttl) {
  claim.task = Claim::Task::extend;
  claim.verb = verb;
  claim.unasked = NodeSet();
  if (claim.phase == Claim::Phase::held) names_.outlast(ttl);
  voters_.begin_round(claim, claim.round.next_number(), ttl);
  claim.work->steps = nodes_.steps();
  rounds_.ask(claim);
  if (claim.phase == Claim::Phase::held) {
    // A node in first contact is given the key by a later extend; this round does not wait for it.
    claim.unasked.each([&](NodeIndex node) {
      claim.round.record(node, Vote::unreachable, {not_connected_yet});
      meter_.did_not_answer(node, Vote::unreachable);
    });
    claim.unasked = NodeSet();
  }
  agenda_.touch(claim);
}

ValidityBasis Engine::basis_of_round(const Claim& claim) {
  return {claim.round.number(), claim.round.granted(),
          static_cast<std::uint8_t>(claim.round.quorum()), claim.work->steps,
          valid_until(claim.round.start(), claim.round.ttl())};
}

void Engine::judge_extend(Claim& claim) {
  const Verdict verdict = claim.round.verdict();
  if (verdict == Verdict::pending) return;
  claim.task = Claim::Task::none;
  if (claim.verb == Verb::downgrade) return judge_downgrade(claim);
  const bool by_token = claim.phase == Claim::Phase::by_token;
  const ValidityBasis basis = basis_of_round(claim);
  const Instant deadline = basis.deadline(nodes_.steps(), basis.votes_needed);
  // The event may have shown a step of a clock that has ended the lease.
  if (claim.phase == Claim::Phase::held && now_ >= claim.valid_until) return lose(claim);
  // A clock step that was noticed during the round also lowers the deadline of an extend by token.
  if (verdict == Verdict::won && by_token)
    claim.valid_until = std::min(claim.valid_until, deadline);
  if (verdict == Verdict::won && by_token && now_ >= claim.valid_until) {
    fail_requests(claim, Errc::expired, &claim.round);
  } else if (verdict == Verdict::won && by_token && claim.work->adopted && claim.is_hold &&
             !claim.terms().traits().has_holds) {
    // The lease would count as exclusive, but others may hold the lock, too.
    fail_requests(claim, Errc::not_holder, &claim.round);
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
      claim.lease().renewal.failed(now_, claim.valid_until);
    }
    claim.unasked = NodeSet();
  }
  key_notes_.repair(claim, claim.round.gone());
  // A claim that was adopted is held now, and goes on.
  if (claim.phase == Claim::Phase::by_token && claim.task == Claim::Task::none) {
    claim.phase = Claim::Phase::cleaning_up;
  }
  agenda_.retime(claim);
}

void Engine::extend_won(Claim& claim, const ValidityBasis& basis, Instant deadline) {
  if (claim.phase == Claim::Phase::held) {
    REDLOCK_ASSERT(now_ < claim.valid_until);
    meter_.renewed();
    Claim::Lease& lease = claim.lease();
    if (deadline > claim.valid_until) {
      lease.basis = basis;
      claim.move_deadline(deadline);
    }
    if (claim.work->requests.empty()) {
      lease.renewal.succeeded(claim.round.start());
    } else {
      lease.renewal.extended_by_hand(claim.valid_until);
    }
    if (deadline < basis.until) lease.renewal.hurry(now_);
  }
  if (claim.work->adopted && claim.phase == Claim::Phase::by_token) return adopt(claim);
  Extended outcome{CallId::none, claim.id(), &claim.round, now_ - claim.round.start(),
                   claim.valid_until};
  outbox_.emit(outcome);  // the lease learns of its deadline before the callers do
  for (const CallId request : claim.work->requests) {
    outcome.request = request;
    outbox_.emit(outcome);
  }
  claim.work->requests.clear();
}

void Engine::extend_lost(Claim& claim) {
  const std::size_t refused = claim.round.with(Vote::refused).size();
  const bool not_ours = refused + claim.round.quorum() > settings_.nodes.size();
  for (const CallId request : claim.work->requests) {
    fail(request, not_ours ? Errc::not_holder : Errc::unavailable, &claim.round);
  }
  claim.work->requests.clear();
}

// --- downgrade --------------------------------------------------------------------------------

void Engine::on(const Downgrade& event) {
  Claim* claim = claims_.find(event.claim);
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  if (claim == nullptr || claim->phase != Claim::Phase::held) {
    return fail(event.request, Errc::not_holder, nullptr);
  }
  REDLOCK_ASSERT(claim->terms().kind() == Kind::exclusive || claim->terms().kind() == Kind::shared);
  idle_leases_.wake(*claim);
  claim->downgrade();
  claim->work->downgrades.push_back(event.request);
  if (claim->task == Claim::Task::none) begin_downgrade(*claim);
}

void Engine::begin_downgrade(Claim& claim) {
  claim.work->requests.swap(claim.work->downgrades);
  wait_queue_.measure_reservation();
  begin_extend(claim, Verb::downgrade, claim.round.ttl());
  inspect(observers_.changed_by_us(claim));
}

/// The deadline stays as it is, whether the round is won or lost: it rests on the nodes' keys in
/// either form.
void Engine::judge_downgrade(Claim& claim) {
  const bool by_token = claim.phase == Claim::Phase::by_token;
  if (!by_token && now_ >= claim.valid_until) return lose(claim);
  if (by_token && now_ >= claim.valid_until) {
    fail_requests(claim, Errc::not_holder, &claim.round);
  } else if (claim.round.verdict() == Verdict::won) {
    Extended outcome{CallId::none, claim.id(), &claim.round, now_ - claim.round.start(),
                     by_token ? now_ : claim.valid_until};
    for (const CallId request : claim.work->requests) {
      outcome.request = request;
      outbox_.emit(outcome);
    }
    claim.work->requests.clear();
  } else {
    extend_lost(claim);
    claim.unasked = NodeSet();
  }
  if (by_token) claim.phase = Claim::Phase::cleaning_up;
  agenda_.retime(claim);
}

// --- time -------------------------------------------------------------------------------------

void Engine::lose(Claim& claim) {
  REDLOCK_ASSERT(claim.phase == Claim::Phase::held && now_ >= claim.valid_until);
  fail_requests(claim, Errc::not_holder, &claim.round);
  meter_.lease_lost();
  outbox_.emit(Lost{claim.id(), &claim.round});
  // A failed extend may have raised the expiry on a minority: without a release, that key would
  // outlive the lease. But the holder may have handed the lease on before its deadline.
  claim.task = Claim::Task::none;
  claim.unasked = NodeSet();
  end_lease(claim, Claim::Phase::lost);
  agenda_.retime(claim);
}

void Engine::warn(Claim& claim) {
  const auto at = claim.lease().renewal.warn_at(claim.valid_until);
  if (!at || now_ < *at) return;
  claim.lease().renewal.warned();
  outbox_.emit(AtRisk{claim.id()});
}

void Engine::fire(Claim& claim) {
  if (claim.finished) return;
  switch (claim.phase) {
    case Claim::Phase::acquiring:
      // Undecided, and even a grant would come too late now.
      if (now_ >= claim.valid_until) return lose_attempt(claim, Errc::expired);
      break;
    case Claim::Phase::held:
      if (now_ >= claim.valid_until) return lose(claim);
      warn(claim);
      if (claim.task == Claim::Task::none && claim.has_queued_calls()) {
        start_queued_call(claim);
      } else if (claim.task == Claim::Task::none && claim.lease().renewal.is_due(now_)) {
        if (const auto ttl = claim.lease().renewal.ask(now_, claim.valid_until)) {
          begin_extend(claim, Verb::extend, *ttl);
        }
      }
      break;
    case Claim::Phase::lost:
    case Claim::Phase::by_token:
      break;
    case Claim::Phase::cleaning_up:
      claim.keys.expire(now_);
      claim.queue_no_more();
      if (claim.keys.resend_due(now_)) owed_releases_.send(claim);
      break;
  }
  agenda_.retime(claim);
  agenda_.touch(claim);
}

void Engine::finish_if_clean(Claim& claim) {
  if (claim.finished || claim.phase != Claim::Phase::cleaning_up) return;
  if (claim.task != Claim::Task::none || claim.unanswered > 0) return;
  if (!claim.keys.clean()) return agenda_.retime(claim);
  if (!claim.unasked.empty()) return;
  agenda_.forget(claim);
  claims_.finish(claim);
}

}  // namespace redlock::core
