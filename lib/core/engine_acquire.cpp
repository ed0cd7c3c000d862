#include <algorithm>

#include "core/engine.hpp"
#include "core/retry.hpp"
#include "core/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {

void Engine::on(const Acquire& event) {
  if (drain_until_) return fail(event.request, Errc::closed, nullptr);
  if (claims_.size() + acquisitions_.size() >= limits::operations) {
    return fail(event.request, Errc::limit_reached, nullptr);
  }
  Acquisition& acquisition = acquisitions_.take();
  acquisition.request = event.request;
  acquisition.resource.assign(event.resource);
  acquisition.ttl = event.ttl;
  acquisition.renewal = event.renewal;
  // A lease that may not be held longer than this is not asked for longer either.
  if (event.renewal && event.renewal->max_hold < event.ttl) {
    acquisition.ttl = std::chrono::floor<std::chrono::milliseconds>(event.renewal->max_hold);
  }
  acquisition.tell_remaining = event.tell_remaining || event.wait > Duration::zero();
  acquisition.give_up.reset();
  if (event.wait > Duration::zero()) acquisition.give_up = later(now_, event.wait);
  acquisition.attempts = 0;
  acquisition.first_round.reset();
  acquisition.has_last = false;
  acquisition.why = Errc::unavailable;
  acquisition.state = Acquisition::State::pausing;
  try_again(acquisition);
}

void Engine::on(const Cancel& event) {
  acquisitions_.each([&](Acquisition& acquisition) {
    if (acquisition.request != event.request) return;
    if (acquisition.state == Acquisition::State::over) return;
    if (acquisition.state == Acquisition::State::asking) {
      Claim& claim = *claims_.find(acquisition.claim.index, acquisition.claim.generation);
      keep_votes(acquisition, claim.round);
      clear(claim);
    }
    finish(acquisition, Errc::cancelled);
  });
}

void Engine::try_again(Acquisition& acquisition) {
  const std::size_t usable = voters().size();
  if (usable >= settings_.quorum) return start_attempt(acquisition);
  if (usable + fresh().size() >= settings_.quorum) {
    acquisition.state = Acquisition::State::gathering;
    timers_.set(timer_of(acquisition), acquisition.give_up);
    return;
  }
  // Too few could vote: nothing is sent, so nothing has to be released.
  note_absent(acquisition);
  ++acquisition.attempts;
  acquisition.why = acquisition.last.why_lost();
  pause_or_fail(acquisition);
}

void Engine::keep_votes(Acquisition& acquisition, const Round& round) {
  acquisition.last = round;
  acquisition.has_last = true;
}

void Engine::note_absent(Acquisition& acquisition) {
  acquisition.last.begin(0, links_.size(), settings_.quorum, now_, acquisition.ttl);
  acquisition.has_last = true;
  NodeSet::first(links_.size()).each([&](NodeIndex node) {
    vote_of_absent(acquisition.last, node);
  });
}

Claim& Engine::new_claim(std::string_view resource, const Token& token) {
  Claim& claim = claims_.take();
  claim.reset();
  claim.resource.assign(resource);
  claim.token = token;
  return claim;
}

void Engine::start_attempt(Acquisition& acquisition) {
  Claim& claim = new_claim(acquisition.resource, random_->token());
  if (!acquisition.first_round) acquisition.first_round = now_;
  ++acquisition.attempts;
  acquisition.claim = claim.id();
  acquisition.state = Acquisition::State::asking;
  claim.acquisition = acquisition.index;
  claim.state = Claim::State::acquiring;
  claim.task = Claim::Task::acquire;
  claim.verb = acquisition.tell_remaining ? Verb::set_and_ttl : Verb::set;
  claim.round.begin(1, links_.size(), settings_.quorum, now_, acquisition.ttl);
  claim.valid_until = valid_until(now_, acquisition.ttl);
  timers_.set(timer_of(acquisition), acquisition.give_up);
  ask(claim);
  retime(claim);
  judge(claim);
}

void Engine::judge_attempt(Claim& claim) {
  REDLOCK_ASSERT(claim.state == Claim::State::acquiring);
  switch (claim.round.verdict()) {
    case Verdict::pending:
      return;
    case Verdict::won:
      // A lease that is already over is worth nothing to its holder and blocks everybody else.
      if (now_ >= claim.valid_until) return lose_attempt(claim, Errc::expired);
      return grant(claim);
    case Verdict::lost:
      return lose_attempt(claim, claim.round.why_lost());
  }
}

void Engine::grant(Claim& claim) {
  REDLOCK_ASSERT(claim.round.granted().size() >= settings_.quorum);
  REDLOCK_ASSERT(now_ < claim.valid_until);
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  claim.state = Claim::State::held;
  claim.task = Claim::Task::none;
  claim.elapsed = now_ - acquisition.first_round.value_or(now_);
  claim.renewal.begin(acquisition.renewal, claim.round.start(), acquisition.ttl);
  retime(claim);

  Command& command = emit(Command::Kind::acquired);
  command.request = acquisition.request;
  command.stamp.claim = claim.id();
  command.round = &claim.round;
  command.elapsed = claim.elapsed;
  command.valid_until = claim.valid_until;

  acquisition.state = Acquisition::State::over;
  timers_.set(timer_of(acquisition), std::nullopt);
  finished_acquisitions_.push_back(acquisition.index);
}

void Engine::lose_attempt(Claim& claim, Errc why) {
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  keep_votes(acquisition, claim.round);
  acquisition.why = why;
  clear(claim);
  pause_or_fail(acquisition);
}

void Engine::pause_or_fail(Acquisition& acquisition) {
  if (!acquisition.give_up || now_ >= *acquisition.give_up) {
    return finish(acquisition, acquisition.why);
  }
  Duration slowest{};
  for (const Link& link : links_) {
    if (link.up()) slowest = std::max(slowest, link.round_trip());
  }
  acquisition.state = Acquisition::State::pausing;
  acquisition.next_try =
      next_try(now_, acquisition.why, acquisition.last, acquisition.attempts, slowest, *random_);
  timers_.set(timer_of(acquisition), std::min(acquisition.next_try, *acquisition.give_up));
}

void Engine::finish(Acquisition& acquisition, Errc code) {
  Command& command = emit(Command::Kind::failed);
  command.request = acquisition.request;
  command.code = code;
  if (acquisition.has_last) command.round = &acquisition.last;
  if (acquisition.first_round) command.elapsed = now_ - *acquisition.first_round;
  acquisition.state = Acquisition::State::over;
  timers_.set(timer_of(acquisition), std::nullopt);
  finished_acquisitions_.push_back(acquisition.index);
}

void Engine::fire(Acquisition& acquisition) {
  const bool out_of_time = acquisition.give_up && now_ >= *acquisition.give_up;
  switch (acquisition.state) {
    case Acquisition::State::over:
      return;
    case Acquisition::State::gathering:
      note_absent(acquisition);
      return finish(acquisition, Errc::unavailable);
    case Acquisition::State::pausing:
      return out_of_time ? finish(acquisition, acquisition.why) : try_again(acquisition);
    case Acquisition::State::asking: {
      Claim& claim = *claims_.find(acquisition.claim.index, acquisition.claim.generation);
      // An earlier attempt knew more than one that was cut short.
      if (!acquisition.has_last) keep_votes(acquisition, claim.round);
      clear(claim);
      return finish(acquisition, acquisition.why);
    }
  }
}

}  // namespace redlock::core
