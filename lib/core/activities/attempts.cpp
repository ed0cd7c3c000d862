#include "core/activities/attempts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/vocabulary/permits.hpp"
#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// A fresh token, which begins with the client's id.
Token new_token(std::string_view client_id, Randomness& random) {
  const Token drawn = random.token();
  std::array<char, Token::digits> digits{};
  if (client_id.empty() || drawn.view().size() != digits.size()) return drawn;
  std::copy(drawn.view().begin(), drawn.view().end(), digits.begin());
  std::copy(client_id.begin(), client_id.end(), digits.begin());
  const auto token = Token::parse({digits.data(), digits.size()});
  return token ? *token : drawn;
}

/// Longer than until every marker was read once more.
constexpr Duration until_markers_are_read = std::chrono::seconds(2);

Token named(const Token& token, std::string_view name) {
  return Token::parse(token.str() + ':' + std::string(name)).value_or(token);
}

}  // namespace

Acquisition* Attempts::begin(const Acquire& event) {
  if (closing_.has_begun() || !new_claims_.has_room()) {
    const Errc why = closing_.has_begun() ? Errc::closed : Errc::limit_reached;
    meter_.refused(why);
    failures_.fail(event.request, why, nullptr);
    return nullptr;
  }
  Acquisition& acquisition = acquisitions_.make(event.request);
  acquisition.begin(me, event, now_);
  names_.outlast(std::max(acquisition.terms->ttl, event.interval));
  return &acquisition;
}

void Attempts::cancel(const Cancel& event) {
  acquisitions_.each_of(event.request, [&](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::over) return;
    if (acquisition.state == Acquisition::State::in_round) {
      Claim& claim = *claims_.find(acquisition.claim);
      acquisition.lose(me, claim.round, Errc::cancelled);
      releases_.clear(claim);
    }
    finish(acquisition, Errc::cancelled);
  });
}

void Attempts::end_all() {
  acquisitions_.each([this](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::over) return;
    if (acquisition.state == Acquisition::State::in_round) {
      releases_.clear(*claims_.find(acquisition.claim));
    }
    finish(acquisition, Errc::closed);
  });
}

void Attempts::try_again(Acquisition& acquisition) {
  acquisition.by_notification.by(me) = !acquisition.waiting->notified_by.empty();
  wait_queue_.try_again(acquisition);
  const Nodes::Ballot ballot = nodes_.ballot();
  const std::size_t usable =
      nodes_.remembering(nodes_.voters_of(ballot), acquisition.terms->interval).size();
  if (usable >= ballot.quorum) {
    const bool waits = acquisition.give_up && !space_queue_.has_space(ballot);
    return waits ? wait_for_space(acquisition) : start(acquisition);
  }
  // Waits for first contacts: until all clocks can be compared, one that seems far off may be
  // right.
  if (nodes_.may_soon_have_quorum()) {
    acquisitions_.enter(acquisition, Acquisition::State::connecting);
    agenda_.set(acquisition, acquisition.give_up);
    return;
  }
  // Too few could vote: nothing is sent, so nothing has to be released. If an attempt has lost its
  // connections, its refusal explains more.
  if (acquisition.reconnected) return finish(acquisition, acquisition.refusal->why);
  voters_.record_all_absent(acquisition);
  ++acquisition.attempts.by(me);
  ++acquisition.failed_attempts.by(me);
  pause_or_fail(acquisition);
}

void Attempts::wait_for_space(Acquisition& acquisition) {
  acquisitions_.enter(acquisition, Acquisition::State::backing_off);
  agenda_.set(acquisition, acquisition.give_up);
  space_queue_.wait(acquisition);
}

Verb Attempts::verb_for(const Acquisition& acquisition) {
  if (acquisition.by_script) return acquisition.terms->traits().script;
  if (acquisition.fencing) {
    return acquisition.wants_remaining ? Verb::set_fenced_and_ttl : Verb::set_fenced;
  }
  return acquisition.wants_remaining ? Verb::set_and_ttl : Verb::set;
}

void Attempts::start(Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  const KindTraits& kind = terms.traits();
  if (kind.is_chosen) acquisition.choose_permit(me, random_);
  Token token = new_token(settings_.client_id, random_);
  if (!terms.name.empty()) token = named(token, terms.name);
  Claim& claim = kind.is_chosen
                     ? new_claims_.make(Claim::Purpose::acquire,
                                        permit_name(terms.resource, acquisition.permit), token)
                     : new_claims_.make(Claim::Purpose::acquire, terms.resource, token);
  claim.set_terms(me, terms);
  if (!acquisition.first_round) acquisition.first_round.by(me) = now_;
  ++acquisition.attempts.by(me);
  ++acquisition.failed_attempts.by(me);
  meter_.attempt_began();
  acquisition.claim.by(me) = claim.id();
  acquisitions_.enter(acquisition, Acquisition::State::in_round);
  acquisition.waits_for_space.by(me) = false;
  claim.acquisition.by(me) = acquisition.index;
  claim.contended.by(me) = acquisition.failed_attempts > 1;
  claim.work->position.by(me) = wait_queue_.queue_position(acquisition);
  claim.contended.by(me) |= claim.work->position->as_client;
  claim.task.by(me) = Claim::Task::acquire;
  claim.verb.by(me) = claim.work->position->ticket ? kind.script : verb_for(acquisition);
  if (acquisition.reserves) {
    // Longer than it takes until the next attempt, and no longer than the caller waits.
    const Duration next_attempt = longest_sleep + settings_.longest_limit;
    claim.work->writer_reservation.by(me) = std::min(next_attempt, *acquisition.give_up - now_);
  }
  if (acquisition.fencing) {
    fencing_.propose(claim, now_.time_since_epoch() + *acquisition.fencing);
  }
  claim.work->steps.by(me) = nodes_.steps();
  voters_.begin_round(claim, 1, acquisition.terms->ttl);
  claim.valid_until.by(me) = valid_until(now_, acquisition.terms->ttl);
  agenda_.set(acquisition, acquisition.give_up);
  rounds_.ask(claim);
  agenda_.retime(claim);
  agenda_.touch_if_decided(claim);
}

void Attempts::judge(Claim& claim) {
  REDLOCK_ASSERT(claim.phase == Claim::Phase::acquiring);
  switch (claim.round->verdict()) {
    case Verdict::pending:
      return;
    case Verdict::won:
      // A lease that has ended already is of no use to its holder, and blocks all others.
      if (now_ >= *claim.valid_until) return lose(claim, Errc::expired);
      if (!claim.fencing()) return grant(claim);
      claim.task.by(me) = Claim::Task::fence;
      return judge_fencing(claim);
    case Verdict::lost:
      return lose(claim, claim.round->why_lost());
  }
}

void Attempts::judge_fencing(Claim& claim) {
  if (now_ >= *claim.valid_until) return fencing_failed(claim, Errc::expired);
  switch (FencingTokens::judge(claim)) {
    case FencingTokens::Verdict::acknowledged:
      return claim.phase == Claim::Phase::acquiring ? grant(claim) : leases_.adopt(claim);
    case FencingTokens::Verdict::exhausted:
      return fencing_failed(claim, Errc::excluded);
    case FencingTokens::Verdict::first_round:
      raise_fencing_number(claim);
      break;
    case FencingTokens::Verdict::later_round:
      break;
  }
  switch (fencing_.prospect(claim)) {
    case FencingTokens::Prospect::open:
      return;
    case FencingTokens::Prospect::raise:
      return raise_fencing_number(claim);
    case FencingTokens::Prospect::none:
      return fencing_failed(claim, Errc::unavailable);
  }
}

void Attempts::fencing_failed(Claim& claim, Errc why) {
  if (claim.phase == Claim::Phase::acquiring) return lose(claim, why);
  leases_.not_adopted(claim, why);
}

void Attempts::raise_fencing_number(Claim& claim) {
  fencing_.raise(claim);
  const NodeSet granted = claim.round->granted() & nodes_.up();
  fencing_.asked(claim, sender_.send(claim, Verb::raise_fence, granted));
}

void Attempts::grant(Claim& claim) {
  REDLOCK_ASSERT(claim.round->grants() >= claim.round->quorum());
  REDLOCK_ASSERT(now_ < *claim.valid_until);
  const NodeSet granted = claim.round->granted() & voters_.of(claim);
  const ValidityBasis basis{claim.round->number(), granted,
                            static_cast<std::uint8_t>(claim.round->quorum()), claim.work->steps,
                            claim.valid_until};
  if (basis.nodes.size() < basis.votes_needed) return lose(claim, Errc::excluded);
  claim.valid_until.by(me) = basis.deadline(nodes_.steps(), basis.votes_needed);
  if (now_ >= *claim.valid_until) return lose(claim, Errc::expired);
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  claim.phase.by(me) = Claim::Phase::held;
  claims_.lease_began(claim);
  claim.task.by(me) = Claim::Task::none;
  claim.granted_at.by(me) = now_;
  leases_.begin(claim, basis, acquisition.renewal);
  meter_.granted(acquisition, claim, now_);

  outbox_.emit(Acquired{acquisition.request, claim.id(), &*claim.round,
                        now_ - acquisition.first_round.read().value_or(now_), claim.valid_until});

  inspections_.observe(observers_.changed_by_us(claim));
  acquisitions_.enter(acquisition, Acquisition::State::over);
  // Most nodes whose answers are still missing will grant it too. The client leaves the queue of a
  // node that does not when its answer arrives.
  QueuePosition& position = claim.work->position.by(me);
  if (position.ticket) position.unanswered = position.nodes & claim.round->pending();
  wait_queue_.leave(acquisition, WaitQueue::Left::granted,
                    claim.round->granted() | position.unanswered);
  agenda_.set(acquisition, std::nullopt);
  acquisitions_.finish(acquisition);
}

void Attempts::lose(Claim& claim, Errc why) {
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  acquisition.lose(me, claim.round, why);
  const Refusal& refusal = acquisition.refusal;
  // If a quorum names the holder, the other nodes will refuse too, and need no release.
  const NodeSet unanswered = refusal.is_known ? claim.round->pending() : NodeSet();
  if (acquisition.give_up && now_ < *acquisition.give_up) {
    wait_queue_.restore_position(acquisition, claim.work->position.by(me),
                                 claim.keys->present() - unanswered);
    claim.work->position.by(me).quiet = refusal.will_be_passed_on();
  }
  releases_.clear(claim, unanswered);
  if (acquisition.may_change_permit(now_, settings_.quorum)) {
    ++acquisition.permit_changes.by(me);
    return try_again(acquisition);
  }
  pause_or_fail(acquisition);
}

void Attempts::pause_or_fail(Acquisition& acquisition) {
  // Connections that had died unnoticed do not fail a call: once, it waits for new ones.
  const bool lost_touch =
      acquisition.refusal->why == Errc::unavailable && !nodes_.returning().empty();
  if (!acquisition.give_up && lost_touch && !acquisition.reconnected && !closing_.has_begun() &&
      nodes_.may_soon_have_quorum()) {
    acquisition.reconnected.by(me) = true;
    acquisitions_.enter(acquisition, Acquisition::State::connecting);
    return agenda_.set(acquisition, std::nullopt);
  }
  // A standstill of our own clock fails no call either: while it was not recognized, nodes had no
  // vote.
  const bool in_doubt = acquisition.refusal->why == Errc::excluded &&
                        clocks_.was_in_doubt_since(acquisition.refusal->began);
  if (!acquisition.give_up && in_doubt && !acquisition.reconnected && !closing_.has_begun()) {
    acquisition.reconnected.by(me) = true;
    return try_again(acquisition);
  }
  if (!acquisition.give_up || now_ >= *acquisition.give_up || is_hopeless(acquisition)) {
    return finish(acquisition, acquisition.refusal->why);
  }
  acquisitions_.enter(acquisition, Acquisition::State::backing_off);
  if (!std::exchange(acquisition.is_waiting.by(me), true)) meter_.wait_began();
  acquisition.permit_changes.by(me) = 0;
  if (wait_queue_.join(acquisition)) {
    queue_watch_.joined(acquisition.terms->resource_at(acquisition.waiting->blocked_by));
  }
  plan_next_try(acquisition);
}

bool Attempts::is_hopeless(Acquisition& acquisition) const {
  if (acquisition.refusal->why != Errc::excluded) return false;
  switch (nodes_.outlook().impasse) {
    case Outlook::Impasse::none:
      acquisition.hopeless_since.by(me).reset();
      return false;
    case Outlook::Impasse::other_max_ttl:
    case Outlook::Impasse::other_servers:
      return true;
    case Outlook::Impasse::forgotten:
      break;
  }
  // Another client may have taken a node back since its marker was read. Without a quorum, all
  // markers are read again each second.
  if (!acquisition.hopeless_since) acquisition.hopeless_since.by(me) = now_;
  return now_ >= later(*acquisition.hopeless_since, until_markers_are_read);
}

void Attempts::plan_next_try(Acquisition& acquisition, Instant at_latest) {
  wait_queue_.plan(acquisition, at_latest);
  set_wake_up(acquisition);
}

void Attempts::set_wake_up(Acquisition& acquisition) {
  agenda_.set(acquisition, std::min(acquisition.waiting->plan.wakes_at(), *acquisition.give_up));
}

void Attempts::finish(Acquisition& acquisition, Errc code) {
  meter_.failed(acquisition, code);
  const std::uint64_t which = acquisition.refusal->resource;
  const std::string_view in_the_way =
      which > 0 ? acquisition.terms->resource_at(which) : std::string_view();
  outbox_.emit(Failed{acquisition.request, code,
                      acquisition.has_last ? &*acquisition.last : nullptr,
                      now_ - acquisition.first_round.read().value_or(now_), in_the_way,
                      acquisition.terms->permits});
  wait_queue_.leave(acquisition, WaitQueue::Left::failed);
  acquisitions_.enter(acquisition, Acquisition::State::over);
  agenda_.set(acquisition, std::nullopt);
  acquisitions_.finish(acquisition);
}

void Attempts::fire(Acquisition& acquisition) {
  const bool out_of_time = acquisition.give_up && now_ >= *acquisition.give_up;
  switch (acquisition.state) {
    case Acquisition::State::over:
      return;
    case Acquisition::State::connecting:
      voters_.record_all_absent(acquisition);
      return finish(acquisition, Errc::unavailable);
    case Acquisition::State::backing_off:
      if (out_of_time) return finish(acquisition, acquisition.refusal->why);
      if (wait_queue_.gives_back(acquisition)) return plan_next_try(acquisition);
      if (now_ >= acquisition.waiting->plan.next_try) return try_again(acquisition);
      wait_queue_.check(acquisition);
      return set_wake_up(acquisition);
    case Acquisition::State::in_round: {
      Claim& claim = *claims_.find(acquisition.claim);
      // The votes of an earlier attempt explain more than those of one that was cut short.
      if (!acquisition.has_last) {
        // A refusal explains more than a node that was not waited for.
        const bool was_refused = !claim.round->with(Vote::refused).empty();
        acquisition.lose(me, claim.round,
                         was_refused ? claim.round->why_lost() : Errc::unavailable);
      }
      releases_.clear(claim);
      return finish(acquisition, acquisition.refusal->why);
    }
  }
}

void Attempts::wake(const WaitQueue::Woken& woken) {
  Acquisition& acquisition = acquisitions_.at(woken.acquisition);
  if (acquisition.state != Acquisition::State::backing_off) return;
  if (woken.checks_only) {
    wait_queue_.plan_check(acquisition);
    return set_wake_up(acquisition);
  }
  plan_next_try(acquisition, woken.at_latest);
  if (woken.at_once && acquisition.waiting->plan.next_try <= now_) fire(acquisition);
}

// --- acquisitions that wait for nodes ------------------------------------------------------------

void Attempts::retry_connecting() {
  acquisitions_.each_kept_from_nodes([&](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::connecting) try_again(acquisition);
  });
}

void Attempts::wake_after_outage() {
  const Nodes::Ballot ballot = nodes_.ballot();
  if (nodes_.voters_of(ballot).size() < ballot.quorum) return;
  acquisitions_.each_kept_from_nodes([&](Acquisition& acquisition) {
    if (acquisition.state != Acquisition::State::backing_off) return;
    const Errc why = acquisition.refusal->why;
    if (why == Errc::unavailable || why == Errc::excluded) try_again(acquisition);
  });
}

}  // namespace redlock::core
