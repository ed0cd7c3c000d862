#include "simulation/simulation.hpp"

// Contenders of another library, modelled on node-redlock. They know no queues, reservations or
// notifications. They retry after a pause, during which version 5 keeps the keys that it was
// granted.
namespace redlock::simulation {
namespace {

constexpr unsigned attempts_of_a_call = 11;
constexpr True retry_delay = 200 * ms;
constexpr True retry_jitter = 100 * ms;

// The parts of an event's number, next to the round that the event belongs to.
constexpr std::uint32_t is_release = 1;
constexpr std::uint32_t is_grant = 2;
constexpr std::uint32_t bits = 2;

}  // namespace

void Simulation::begin_foreign() {
  foreign_.resize(scenario_.foreign);
  for (std::uint32_t i = 0; i < foreign_.size(); ++i) plan_foreign(i, random_.below(10 * ms));
}

void Simulation::plan_foreign(std::uint32_t index, True in) {
  plan(now_ + 1 + in, Kind::foreign_acts, index, ++foreign_[index].round);
}

void Simulation::act_foreign(std::uint32_t index, std::uint32_t round) {
  Foreign& mine = foreign_[index];
  if (mine.round != round) return;
  switch (mine.phase) {
    case Foreign::Phase::idle:
      if (healed_) return;
      mine.token = foreign | (random_.next() >> 8U);
      checker_.left(mine.token);
      mine.attempts = 0;
      mine.began = now_;
      mine.phase = Foreign::Phase::asking;
      return ask_foreign(index, 0);
    case Foreign::Phase::asking:
      if (!scenario_.foreign_keeps) mine.began = now_;
      return ask_foreign(index, 0);
    case Foreign::Phase::holding:
      tell("foreign ", index, " releases");
      checker_.ended(mine.token, now_);
      progress_.freed(1U, false, now_);
      mine.phase = Foreign::Phase::releasing;
      return ask_foreign(index, is_release);
    case Foreign::Phase::undoing:
    case Foreign::Phase::releasing:
      return;
  }
}

void Simulation::ask_foreign(std::uint32_t index, std::uint32_t what) {
  Foreign& mine = foreign_[index];
  ++mine.round;
  mine.granted = mine.refused = 0;
  if (what != is_release) ++mine.attempts;
  for (std::uint32_t node = 0; node < scenario_.nodes; ++node) {
    plan(now_ + delay(), Kind::foreign_arrives, index * scenario_.nodes + node,
         mine.round << bits | what);
  }
}

void Simulation::arrive_foreign(const Event& event) {
  const auto count = static_cast<std::uint32_t>(scenario_.nodes);
  const std::uint32_t node = event.a % count;
  if (servers_[node].stopped_until > now_)
    return plan(servers_[node].stopped_until, event.kind, event.a, event.b);
  // A lock request of an earlier attempt that arrives late is still executed, for the same token.
  const std::uint64_t token = foreign_[event.a / count].token;
  std::uint32_t what = event.b;
  if ((what & is_release) != 0) {
    servers_[node].unlock_foreign(0, token, now_);
  } else if (servers_[node].lock_foreign(0, token, scenario_.longest_ttl_ms, now_)) {
    what |= is_grant;
  }
  note_changes(node, std::nullopt);
  plan(now_ + delay(), Kind::foreign_answered, event.a, what);
}

void Simulation::answer_foreign(const Event& event) {
  const std::uint32_t index = event.a / static_cast<std::uint32_t>(scenario_.nodes);
  Foreign& mine = foreign_[index];
  if (mine.round != event.b >> bits) return;
  ++((event.b & is_grant) != 0 ? mine.granted : mine.refused);
  const bool all = mine.granted + mine.refused == scenario_.nodes;
  switch (mine.phase) {
    case Foreign::Phase::idle:
    case Foreign::Phase::holding:
      return;
    case Foreign::Phase::releasing:
    case Foreign::Phase::undoing:
      if (!all) return;
      if (mine.phase == Foreign::Phase::undoing && mine.attempts < attempts_of_a_call) {
        mine.phase = Foreign::Phase::asking;
        return plan_foreign(index, retry_delay + random_.between(-retry_jitter, retry_jitter));
      }
      mine.phase = Foreign::Phase::idle;
      return plan_foreign(index, random_.below(scenario_.think));
    case Foreign::Phase::asking:
      break;
  }
  const std::size_t majority = scenario_.nodes / 2 + 1;
  const True until = mine.began + scenario_.longest_ttl_ms * ms / 100 * 99 - 2 * ms;
  if (mine.granted >= majority && now_ < until) {
    tell("foreign ", index, " is granted ", mine.token % 10'000);
    checker_.granted({mine.token, 1U, 0, 0, mine.began, now_, until});
    progress_.granted(~index, 1U, now_);
    check_progress();
    mine.phase = Foreign::Phase::holding;
    return plan_foreign(index, random_.below(scenario_.longest_hold));
  }
  const bool lost = scenario_.foreign_keeps ? mine.refused > scenario_.nodes - majority : all;
  if (!lost) return;
  const bool keeps = scenario_.foreign_keeps && mine.attempts < attempts_of_a_call;
  if (keeps) return plan_foreign(index, retry_delay + random_.between(-retry_jitter, retry_jitter));
  tell("foreign ", index, " gives back what it was granted");
  mine.phase = Foreign::Phase::undoing;
  ask_foreign(index, is_release);
}

}  // namespace redlock::simulation
