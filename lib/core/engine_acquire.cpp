#include <algorithm>

#include "core/engine.hpp"
#include "core/places.hpp"
#include "core/retry.hpp"
#include "core/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {

void Engine::on(const Acquire& event) {
  if (drain_until_) return fail(event.request, Errc::closed, nullptr);
  if (!has_room()) return fail(event.request, Errc::limit_reached, nullptr);
  Acquisition& acquisition = acquisitions_.take();
  acquisition.request = event.request;
  acquisition.resource.assign(event.resource);
  acquisition.ttl = event.ttl;
  acquisition.renewal = event.renewal;
  // A lease that may not be held longer than this is not asked for longer either.
  if (event.renewal && event.renewal->max_hold < event.ttl) {
    acquisition.ttl = std::chrono::floor<std::chrono::milliseconds>(event.renewal->max_hold);
  }
  acquisition.tell_remaining =
      event.tell_remaining || event.wait > Duration::zero() || event.orphan_ttl.has_value();
  acquisition.also.assign(event.also.begin(), event.also.end());
  acquisition.group.assign(event.group);
  acquisition.name.assign(event.name);
  acquisition.at_least = event.at_least;
  acquisition.places = event.places;
  acquisition.free_places.assign(event.places, 0);
  acquisition.moves = 0;
  acquisition.by_script = !event.also.empty();
  acquisition.keeps_out = event.wait > Duration::zero() && event.group.empty() && event.places == 0;
  acquisition.reserved = false;
  acquisition.blocked_by = 0;
  acquisition.fencing = event.fencing;
  acquisition.orphan_ttl = event.orphan_ttl;
  acquisition.give_up.reset();
  if (event.wait > Duration::zero()) acquisition.give_up = later(now_, event.wait);
  acquisition.attempts = acquisition.setbacks = 0;
  acquisition.first_round.reset();
  acquisition.has_last = false;
  acquisition.why = Errc::unavailable;
  acquisition.state = Acquisition::State::pausing;
  try_again(acquisition);
}

bool Engine::has_room() const {
  // An attempt is its acquisition's, and what is only being cleaned up is no lease any more: that
  // has as much room again.
  const std::size_t most = settings_.max_operations;
  return acquisitions_.size() + held_ < most && claims_.size() < 2 * most;
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
  // From here on it counts what is told of later.
  acquisition.heard = NodeSet();
  acquisition.look.reset();
  const Ballot ballot = this->ballot();
  const std::size_t usable = voters(ballot.deployment).size();
  if (usable >= ballot.quorum) return start_attempt(acquisition);
  // While first contact goes on with some nodes, the clocks of the others can not be compared yet,
  // or one that seems far off may turn out to be the right one.
  if (!unsettled().empty() && candidates().size() >= ballot.quorum) {
    acquisition.state = Acquisition::State::gathering;
    timers_.set(timer_of(acquisition), acquisition.give_up);
    return;
  }
  // Too few could vote: nothing is sent, so nothing has to be released.
  note_absent(acquisition);
  ++acquisition.attempts;
  ++acquisition.setbacks;
  acquisition.why = acquisition.last.why_lost();
  pause_or_fail(acquisition);
}

void Engine::keep_votes(Acquisition& acquisition, const Round& round) {
  acquisition.last = round;
  acquisition.has_last = true;
}

void Engine::note_absent(Acquisition& acquisition) {
  const Ballot ballot = this->ballot();
  acquisition.last.begin(0, links_.size(), ballot.quorum, now_, acquisition.ttl);
  acquisition.has_last = true;
  NodeSet::first(links_.size()).each([&](NodeIndex node) {
    // Nothing speaks against one whose clock could only not be compared: it was not asked.
    const bool counts = belongs_to(node, ballot.deployment) && ballot.quorum <= links_.size();
    if (may_vote_but_for_clock(node) && !links_[node].clock_far && counts) return;
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

namespace {

Token named(const Token& token, std::string_view name) {
  if (name.empty()) return token;
  return Token::parse(token.str() + ':' + std::string(name)).value_or(token);
}

}  // namespace

Verb Engine::verb_for(const Acquisition& acquisition) {
  if (!acquisition.group.empty()) return Verb::enter;
  if (acquisition.places > 0) return Verb::take_place;
  if (acquisition.by_script) return Verb::take;
  if (acquisition.fencing) {
    return acquisition.tell_remaining ? Verb::set_numbered_and_ttl : Verb::set_numbered;
  }
  return acquisition.tell_remaining ? Verb::set_and_ttl : Verb::set;
}

void Engine::start_attempt(Acquisition& acquisition) {
  if (acquisition.places > 0) choose_place(acquisition);
  Claim& claim = new_claim(acquisition.resource, named(random_->token(), acquisition.name));
  if (!acquisition.first_round) acquisition.first_round = now_;
  ++acquisition.attempts;
  ++acquisition.setbacks;
  acquisition.claim = claim.id();
  acquisition.state = Acquisition::State::asking;
  claim.acquisition = acquisition.index;
  claim.state = Claim::State::acquiring;
  claim.task = Claim::Task::acquire;
  claim.verb = verb_for(acquisition);
  claim.also = acquisition.also;
  claim.group = acquisition.group;
  claim.at_least = acquisition.at_least;
  claim.places = acquisition.places;
  if (claim.places > 0) claim.resource = place_name(acquisition.resource, acquisition.place);
  if (acquisition.keeps_out) {
    // Longer than it takes to look again, and no longer than somebody waits.
    const Duration look = longest_sleep + settings_.longest_limit;
    claim.keep_out = std::min(look, *acquisition.give_up - now_);
  }
  claim.orphan_ttl = acquisition.orphan_ttl;
  if (acquisition.fencing) {
    propose_number(claim, now_.time_since_epoch() + *acquisition.fencing);
  }
  claim.steps = steps();
  begin_round(claim, 1, acquisition.ttl);
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
      if (!claim.fencing) return grant(claim);
      claim.task = Claim::Task::number;
      return judge_number(claim);
    case Verdict::lost:
      return lose_attempt(claim, claim.round.why_lost());
  }
}

void Engine::propose_number(Claim& claim, Duration wall_clock) {
  Fencing& fencing = claim.fencing.emplace();
  // One number for all of several resources, so above what was seen of each.
  fencing.number = fences_.propose(claim.resource, wall_clock);
  for (const std::string& other : claim.also) {
    fencing.number = std::max(fencing.number, fences_.propose(other, wall_clock));
  }
  fencing.first = fencing.number;
  fencing.reach = fence_number(wall_clock + fence_reach);
  remember_number(claim, fencing.number);
}

void Engine::remember_number(const Claim& claim, std::uint64_t number) {
  // What is beyond reach is not proposed, and must not hide what is within.
  if (number > claim.fencing->reach) return;
  fences_.note(claim.resource, number);
  for (const std::string& other : claim.also) fences_.note(other, number);
}

void Engine::forget_number(const Claim& claim) {
  fences_.forget(claim.resource);
  for (const std::string& other : claim.also) fences_.forget(other);
}

void Engine::raise_number(Claim& claim) {
  Fencing& fencing = *claim.fencing;
  fencing.number = std::max(fencing.highest, fencing.number) + 1;
  remember_number(claim, fencing.number);
  fencing.acknowledged = NodeSet();
  ++fencing.rounds;
  fencing.asked =
      transmit(claim, Verb::raise_fence, claim.round.granted() & up(), ScriptForm::digest);
}

void Engine::judge_number(Claim& claim) {
  Fencing& fencing = *claim.fencing;
  if (now_ >= claim.valid_until) return lose_attempt(claim, Errc::expired);
  if (fencing.acknowledged.size() >= claim.round.quorum()) return grant(claim);
  const std::uint64_t next = std::max(fencing.highest, fencing.number) + 1;
  if (next >= fence_limit) return lose_attempt(claim, Errc::excluded);
  // The first round is over when the lock is ours; a later one when it can not win any more and
  // nothing of it is under way, so that no answer to it can be taken for one to the next.
  if (fencing.rounds == 1) raise_number(claim);
  const std::size_t possible =
      fencing.acknowledged.size() + fencing.asked.size() + claim.round.pending().size();
  if (possible >= claim.round.quorum()) return;
  const NodeSet reachable = claim.round.granted() & up();
  if (reachable.size() >= claim.round.quorum()) {
    if (!fencing.asked.empty()) return;
    if (fencing.highest >= fencing.number) return raise_number(claim);
  }
  lose_attempt(claim, Errc::unavailable);
}

void Engine::grant(Claim& claim) {
  REDLOCK_ASSERT(claim.round.granted().size() >= claim.round.quorum());
  REDLOCK_ASSERT(now_ < claim.valid_until);
  claim.worth = {claim.round.number(), claim.round.granted() & voters(claim.deployment),
                 claim.steps, claim.valid_until, claim.round.quorum()};
  if (claim.worth.nodes.size() < claim.worth.votes_needed)
    return lose_attempt(claim, Errc::excluded);
  claim.valid_until = claim.worth.deadline(steps(), claim.worth.votes_needed);
  if (now_ >= claim.valid_until) return lose_attempt(claim, Errc::expired);
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  claim.state = Claim::State::held;
  ++held_;
  claim.task = Claim::Task::none;
  claim.granted_at = now_;
  claim.elapsed = now_ - acquisition.first_round.value_or(now_);
  claim.renewal.begin(acquisition.renewal, claim.round.start(), acquisition.ttl);
  if (claim.valid_until < claim.worth.until) claim.renewal.hurry(now_);
  retime(claim);

  Command& command = outbox_.emit(Command::Kind::acquired);
  command.request = acquisition.request;
  command.stamp.claim = claim.id();
  command.round = &claim.round;
  command.elapsed = claim.elapsed;
  command.valid_until = claim.valid_until;

  acquisition.state = Acquisition::State::over;
  leave_line(acquisition, Left::granted);
  timers_.set(timer_of(acquisition), std::nullopt);
  finished_acquisitions_.push_back(acquisition.index);
}

void Engine::lose_attempt(Claim& claim, Errc why) {
  Acquisition& acquisition = acquisitions_.at(claim.acquisition);
  keep_votes(acquisition, claim.round);
  acquisition.why = why;
  clear(claim);
  if (may_change_place(acquisition)) {
    ++acquisition.moves;
    return try_again(acquisition);
  }
  pause_or_fail(acquisition);
}

void Engine::pause_or_fail(Acquisition& acquisition) {
  if (!acquisition.give_up || now_ >= *acquisition.give_up) {
    return finish(acquisition, acquisition.why);
  }
  acquisition.state = Acquisition::State::pausing;
  acquisition.moves = 0;
  if (worth_waiting(acquisition)) wait_in_line(acquisition);
  plan_next_try(acquisition);
}

void Engine::plan_next_try(Acquisition& acquisition, Instant at_latest) {
  const Told told = is_told(acquisition) ? Told::yes : Told::no;
  if (told == Told::yes && heard_enough(acquisition)) acquisition.look = now_;
  acquisition.next_try = next_try(now_, acquisition.why, acquisition.last, acquisition.setbacks,
                                  slowest_round_trip(), told, *random_);
  acquisition.next_try =
      std::min({acquisition.next_try, acquisition.look.value_or(at_latest), at_latest});
  timers_.set(timer_of(acquisition), std::min(acquisition.next_try, *acquisition.give_up));
}

Duration Engine::slowest_round_trip() const {
  Duration slowest{};
  for (const Link& link : links_) {
    if (link.up()) slowest = std::max(slowest, link.round_trip());
  }
  return slowest;
}

void Engine::finish(Acquisition& acquisition, Errc code) {
  Command& command = outbox_.emit(Command::Kind::failed);
  command.request = acquisition.request;
  command.code = code;
  if (acquisition.has_last) command.round = &acquisition.last;
  if (acquisition.first_round) command.elapsed = now_ - *acquisition.first_round;
  acquisition.state = Acquisition::State::over;
  leave_line(acquisition, Left::failed);
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
      if (!acquisition.has_last) {
        keep_votes(acquisition, claim.round);
        // Who refused says more than who was not waited for.
        if (!claim.round.with(Vote::refused).empty()) acquisition.why = claim.round.why_lost();
      }
      clear(claim);
      return finish(acquisition, acquisition.why);
    }
  }
}

}  // namespace redlock::core
