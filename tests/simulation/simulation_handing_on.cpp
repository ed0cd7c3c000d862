#include <utility>

#include "simulation/simulation.hpp"

// Leases that another client takes over, at any instant: the call that hands a lease on ends it for
// its holder at once, and reaches the engine later, before or after the deadline.
namespace redlock::simulation {

bool Simulation::wants_to_give(std::uint32_t index, std::uint32_t slot) {
  if (healed_ || scenario_.gives_per_mille == 0) return false;
  const Slot& mine = clients_[index].slots[slot];
  // A token is handed on with one resource, and without its interval.
  if (mine.resources == 3 || mine.at_least > core::Duration::zero()) return false;
  return mine.extend == 0 && random_.per_mille(scenario_.gives_per_mille);
}

Simulation::Slot* Simulation::idle_slot(std::uint32_t index) {
  Client& client = clients_[index];
  if (!client.alive || client.closing || is_newcomer(index)) return nullptr;
  for (Slot& slot : client.slots) {
    const bool waits = slot.acquire + slot.extend + slot.release != 0;
    if (slot.phase == Phase::idle && !waits) return &slot;
  }
  return nullptr;
}

/// Gives the lease to another client, if one has an idle caller.
bool Simulation::give(std::uint32_t index, std::uint32_t slot) {
  Client& client = clients_[index];
  const bool is_lost = scenario_.mutant == Mutant::lost_is_handed_out;
  if (!is_lost && client.clock.instant(now_) >= client.slots[slot].valid_until) return false;
  const auto others = static_cast<std::uint32_t>(clients_.size() - 1);
  const auto first = static_cast<std::uint32_t>(random_.below(others));
  for (std::uint32_t i = 0; i < others; ++i) {
    const std::uint32_t to = (index + 1 + (first + i) % others) % (others + 1);
    if (Slot* const theirs = idle_slot(to)) {
      give(index, slot, to, *theirs);
      return true;
    }
  }
  return false;
}

void Simulation::give(std::uint32_t index, std::uint32_t slot, std::uint32_t to, Slot& theirs) {
  Client& client = clients_[index];
  Client& other = clients_[to];
  Slot& mine = client.slots[slot];
  tell("client ", index, " gives ", mine.token % 10'000, " to client ", to);
  checker_.abandoned(mine.token, now_);
  const bool was_served = theirs.served;
  theirs = mine;
  theirs.phase = Phase::handed_on;
  theirs.lease = {};
  theirs.acquire = theirs.extend = theirs.release = 0;
  theirs.served = was_served;
  theirs.valid_until = other.clock.instant(client.clock.when(mine.valid_until));
  if (theirs.group == 0 && scenario_.kind == Wanted::readers && random_.per_mille(500)) {
    tell("it is a reader's from now on");
    checker_.downgraded(theirs.token, now_);
    theirs.group = 1;
  }
  const bool is_lost = client.has_lost(mine.lease);
  if (!is_lost) end_lease(index, slot, 0);
  mine.lease = {};
  mine.phase = Phase::idle;
  mine.token = 0;
  plan_act(index, slot, random_.below(scenario_.think));
  // Now and then too late. A lease that is lost lives on the nodes only for the allowance for
  // drift.
  const True left = std::max<True>(0, other.clock.when(theirs.valid_until) - now_);
  const True waits = random_.per_mille(200) ? left : 0;
  const auto at = static_cast<std::uint32_t>(&theirs - other.slots.data());
  plan_act(to, at, is_lost ? 0 : waits + random_.below(scenario_.think));
}

/// Ends a lease by a call. A loop takes its jobs in each turn, so what delays a job delays the
/// timers and answers of its client as well. They are handled right before the job or after it.
void Simulation::end_lease(std::uint32_t index, std::uint32_t slot, std::uint64_t release) {
  Client& client = clients_[index];
  Slot& mine = client.slots[slot];
  client.jobs.push_back({std::exchange(mine.lease, {}), release});
  if (scenario_.gives_per_mille == 0 || healed_ || random_.per_mille(500)) return do_job(index);
  const True left = std::max<True>(0, client.clock.when(mine.valid_until) - now_);
  client.paused_until = now_ + 1 + random_.below(left + 2 * ms);
  plan(client.paused_until + random_.below(2), Kind::job, index, client.life);
}

void Simulation::do_job(std::uint32_t index) {
  Client& client = clients_[index];
  if (client.jobs.empty()) return;
  const Client::Job job = client.jobs.front();
  client.jobs.pop_front();
  if (job.release == 0) return step(index, core::Detach{job.claim});
  step(index, core::Release{core::CallId{job.release}, job.claim});
}

}  // namespace redlock::simulation
