#include <algorithm>

#include "simulation/simulation.hpp"

namespace redlock::simulation {
namespace {

constexpr unsigned slot_bits = 4;

}  // namespace

std::uint64_t Simulation::request(std::uint32_t index, std::uint32_t slot) {
  return (++clients_[index].requests << slot_bits) | slot;
}

Simulation::Slot* Simulation::slot_of(std::uint32_t index, core::CallId request) {
  const auto number = static_cast<std::uint64_t>(request);
  const std::size_t slot = number & ((1U << slot_bits) - 1U);
  Client& client = clients_[index];
  return number == 0 || slot >= client.slots.size() ? nullptr : &client.slots[slot];
}

void Simulation::plan_act(std::uint32_t index, std::uint32_t slot, True in) {
  const std::uint32_t name = index << slot_bits | slot;
  plan(now_ + 1 + in, Kind::act, name, clients_[index].life);
}

void Simulation::plan_hold(std::uint32_t index, std::uint32_t slot) {
  const Slot& mine = clients_[index].slots[slot];
  const True left = clients_[index].clock.when(mine.valid_until) - now_;
  if (healed_) return plan_act(index, slot, random_.below(1 * ms));
  if (scenario_.steady) {
    const bool reads = mine.group == 1 && scenario_.longest_read > 0;
    const True longest = reads ? scenario_.longest_read : scenario_.longest_hold;
    if (mine.resources == 2 && scenario_.long_hold > 0) {
      return plan_act(index, slot, scenario_.long_hold);
    }
    return plan_act(index, slot, random_.below(longest));
  }
  if (scenario_.last_millisecond && random_.per_mille(600)) {
    return plan_act(index, slot, std::max<True>(0, left - random_.below(1 * ms)));
  }
  plan_act(index, slot, random_.below(std::max<True>(1, left)));
}

void Simulation::act(std::uint32_t name, std::uint32_t life) {
  const std::uint32_t index = name >> slot_bits;
  const std::uint32_t slot = name & ((1U << slot_bits) - 1U);
  Client& client = clients_[index];
  if (!client.alive || client.life != life || client.closing) return;
  if (client.paused_until > now_) return plan(client.paused_until, Kind::act, name, life);
  if (is_operator(index)) return break_some_lock(index, slot);
  switch (client.slots[slot].phase) {
    case Phase::idle:
      if (is_newcomer(index)) return;
      return act_idle(index, slot);
    case Phase::acquiring:
      if (client.slots[slot].acquire == 0) return;
      // A TTL that the round trip uses up is never granted, however long one waits.
      if (healed_ && client.slots[slot].ttl >= enough()) return;
      tell("client ", index, " cancels");
      return step(index, core::Cancel{core::CallId{client.slots[slot].acquire}});
    case Phase::holding:
      return act_holding(index, slot);
    case Phase::handed_on:
      return act_handed_on(index, slot);
    case Phase::over:
      return;
  }
}

core::Duration Simulation::enough() const {
  return std::chrono::ceil<std::chrono::milliseconds>(50 * core::Duration(scenario_.slowest)) +
         std::chrono::milliseconds(10);
}

Wanted Simulation::wanted_by(std::uint32_t index) const {
  const bool is_first = index < scenario_.first_clients;
  return is_first ? scenario_.kind : scenario_.beside.value_or(scenario_.kind);
}

void Simulation::draw_terms(Wanted kind, Slot& slot, core::Acquire& event) {
  slot.group = 0;
  slot.at_least = core::Duration::zero();
  slot.resources = std::uint64_t{1} << slot.resource;
  switch (kind) {
    case Wanted::exclusive:
      return;
    case Wanted::readers:
      slot.group = random_.per_mille(scenario_.readers_per_mille) ? 1 : 0;
      break;
    case Wanted::owners:
      slot.group = random_.per_mille(800) ? static_cast<std::uint64_t>(random_.between(2, 3)) : 0;
      break;
    case Wanted::several:
      if (!random_.per_mille(scenario_.several_per_mille)) break;
      slot.resources = 3;
      more_resources_ = {slot.resource == 0 ? "r1" : "r0"};
      event.more_resources = more_resources_;
      break;
    case Wanted::permits:
      slot.resource = 0;
      event.resource = "r0";
      event.permits = static_cast<std::uint32_t>(scenario_.resources);
      break;
    case Wanted::interval:
      slot.at_least = std::chrono::milliseconds(
          random_.between(scenario_.one_interval() ? scenario_.longest_interval_ms : 1,
                          scenario_.longest_interval_ms));
      event.interval = slot.at_least;
      break;
  }
  event.group = groups[slot.group];
}

void Simulation::draw_steady(const Slot& slot, core::Acquire& event) {
  event.renewal.reset();
  const std::int64_t dice = scenario_.all_wait      ? 0
                            : scenario_.all_give_up ? 900
                                                    : random_.below(1000);
  if (dice < 850) {
    event.wait = core::Duration::max();
  } else if (dice < 950) {
    event.wait = core::Duration(random_.between(5 * ms, 60 * ms)) + slot.at_least;
  } else {
    event.wait = core::Duration::zero();
  }
}

std::uint32_t Simulation::caller(std::uint32_t client, std::uint32_t slot) {
  return client << slot_bits | slot;
}

std::uint64_t Simulation::counted(const Slot& slot) const {
  return scenario_.kind == Wanted::permits ? 1 : slot.resources;
}

void Simulation::freed(const Slot& slot) {
  // The interval, with the error of the clocks.
  const True interval = slot.at_least.count() + slot.at_least.count() / 100 + 2 * ms;
  const bool has_interval = slot.at_least > core::Duration::zero();
  progress_.freed(counted(slot), slot.group == 1,
                  has_interval ? std::max(now_, slot.granted_at + interval) : now_);
}

void Simulation::act_idle(std::uint32_t index, std::uint32_t slot) {
  Slot& mine = clients_[index].slots[slot];
  if (mine.served || mine.acquire + mine.extend + mine.release != 0) return;
  mine.phase = Phase::acquiring;
  mine.acquire = request(index, slot);
  mine.resource =
      scenario_.own_resource
          ? index % scenario_.resources
          : static_cast<std::size_t>(random_.below(static_cast<True>(scenario_.resources)));
  resource_ = mine.resource == 0 ? "r0" : "r1";
  core::Acquire event;
  event.request = core::CallId{mine.acquire};
  event.resource = resource_;
  event.ttl = std::chrono::milliseconds(
      random_.between(scenario_.shortest_ttl_ms, scenario_.longest_ttl_ms));
  if (random_.per_mille(600)) event.wait = event.ttl * random_.between(1, 10);
  if (random_.per_mille(100)) event.wait = core::Duration::max();
  if (random_.per_mille(300)) {
    event.renewal.emplace();
    event.renewal->max_renewals = static_cast<std::uint64_t>(random_.between(0, 10));
    event.renewal->max_hold = event.ttl * random_.between(1, 6);
  }
  draw_terms(wanted_by(index), mine, event);
  if (scenario_.steady) draw_steady(mine, event);
  const bool several_hold = mine.group != 0 || scenario_.kind == Wanted::permits;
  mine.fenced = random_.per_mille(scenario_.fencing_per_mille) && !several_hold;
  if (mine.fenced) event.fencing = clients_[index].wall_clock;
  if (healed_) {
    event.wait = core::Duration::max();
    event.ttl = std::max<core::Duration>(event.ttl, enough());
    event.renewal.reset();
  }
  mine.ttl = event.renewal ? std::min(event.ttl, event.renewal->max_hold) : event.ttl;
  ++calls_;
  progress_.begins(caller(index, slot), {.since = now_,
                                         .resources = counted(mine),
                                         .reads = mine.group == 1,
                                         .may_wait = event.wait > core::Duration::zero()});
  if (scenario_.steady && event.wait == core::Duration::max()) {
    // The time to be refused, to subscribe, and to be queued on all nodes.
    const True queued_by = now_ + 6 * scenario_.round_trip();
    progress_.waits(caller(index, slot), queued_by);
  }
  if (!scenario_.steady && random_.per_mille(100)) {
    plan_act(index, slot, random_.below(std::max<True>(1, event.ttl.count())));
  }
  step(index, event);
}

void Simulation::act_holding(std::uint32_t index, std::uint32_t slot) {
  Client& client = clients_[index];
  Slot& mine = client.slots[slot];
  const std::int64_t dice = random_.below(1000);
  if (!healed_ && scenario_.judged_by_votes && dice < 400 && mine.extend == 0) {
    return hand_on(index, slot);
  }
  if (wants_to_give(index, slot) && give(index, slot)) return;
  if (wants_to_downgrade(mine)) return downgrade(index, slot);
  if (healed_ || scenario_.steady || dice < 450) return release(index, slot);
  if (dice < 850) {
    if (mine.extend == 0) {
      mine.extend = request(index, slot);
      const auto ttl = std::chrono::milliseconds(
          random_.between(scenario_.shortest_ttl_ms, scenario_.longest_ttl_ms));
      step(index, core::Extend{core::CallId{mine.extend}, mine.lease, ttl});
    }
    if (mine.phase == Phase::holding) plan_hold(index, slot);
    return;
  }
  if (dice < 920 || mine.extend != 0) return;  // the lease reaches its deadline
  hand_on(index, slot);
}

bool Simulation::wants_to_downgrade(const Slot& slot) {
  const bool writes = scenario_.kind == Wanted::readers && slot.group == 0 && slot.extend == 0;
  return writes && scenario_.downgrades_per_mille > 0 &&
         random_.per_mille(scenario_.downgrades_per_mille);
}

void Simulation::downgrade(std::uint32_t index, std::uint32_t slot) {
  Slot& mine = clients_[index].slots[slot];
  tell("client ", index, " downgrades ", mine.token % 10'000);
  checker_.downgraded(mine.token, now_);
  mine.group = 1;
  mine.extend = request(index, slot);
  step(index, core::Downgrade{core::CallId{mine.extend}, mine.lease});
  progress_.downgraded(counted(mine), now_);
  if (mine.phase == Phase::holding) plan_hold(index, slot);
}

std::string Simulation::name_of(std::size_t resource) const {
  if (resource == any_permit) return "r0#";
  if (scenario_.kind == Wanted::permits) return "r0#" + std::to_string(resource);
  return "r" + std::to_string(resource);
}

void Simulation::hand_on(std::uint32_t index, std::uint32_t slot) {
  Client& client = clients_[index];
  Slot& mine = client.slots[slot];
  // A token is handed on with one resource, and without its interval.
  if (mine.resources == 3 || mine.at_least > core::Duration::zero()) return release(index, slot);
  tell("client ", index, " hands ", mine.token % 10'000, " on");
  checker_.abandoned(mine.token, now_);
  mine.phase = Phase::handed_on;
  step(index, core::Detach{mine.lease});
  mine.lease = {};
  if (scenario_.newcomer) {
    hand_to_newcomer(index, mine);
    mine.phase = Phase::idle;
    mine.token = 0;
    return plan_act(index, slot, random_.below(scenario_.think));
  }
  // If votes judge, the lease is used to its end, because its holder gets no notification.
  // Otherwise it may be taken over too late.
  const True left = std::max<True>(0, client.clock.when(mine.valid_until) - now_);
  if (scenario_.judged_by_votes) return plan_act(index, slot, left);
  const True waits = random_.per_mille(200) ? left : 0;
  plan_act(index, slot, waits + random_.below(scenario_.think));
}

void Simulation::hand_to_newcomer(std::uint32_t from, const Slot& slot) {
  const auto newcomer = static_cast<std::uint32_t>(clients_.size() - 1);
  Client& client = clients_[newcomer];
  if (!client.alive || client.slots[0].phase != Phase::idle) return;
  end_client(newcomer);
  client.slots[0] = slot;
  client.slots[0].valid_until = client.clock.instant(clients_[from].clock.when(slot.valid_until));
}

void Simulation::take_over(std::uint32_t index) {
  Client& client = clients_[index];
  const Slot handed = client.slots[0];
  client.alive = true;
  begin_client(index);
  Slot& mine = client.slots[0];
  mine = handed;
  mine.served = true;  // a newcomer acquires nothing
  // A lease that ends soon can end before the nodes answer.
  const bool is_worth_it = client.clock.when(handed.valid_until) - now_ > enough().count();
  if (handed.phase != Phase::handed_on || !is_worth_it) {
    mine.phase = Phase::idle;
    return;
  }
  tell("client ", index, " takes ", mine.token % 10'000, " over");
  act_handed_on(index, 0);
}

void Simulation::expect_it_left(std::uint32_t index) {
  if (!scenario_.steady || scenario_.kind != Wanted::several) return;
  plan(now_ + 2 * (scenario_.round_trip() + scenario_.far), Kind::left, index, calls_of(index));
}

std::uint32_t Simulation::calls_of(std::uint32_t index) const {
  return static_cast<std::uint32_t>(clients_[index].requests) + clients_[index].ended;
}

void Simulation::check_that_it_left(std::uint32_t index, std::uint32_t calls) {
  const Client& client = clients_[index];
  const bool waits = std::any_of(client.slots.begin(), client.slots.end(),
                                 [](const Slot& slot) { return slot.phase == Phase::acquiring; });
  const bool hangs = client.paused_until > now_;
  if (waits || hangs || !client.alive || calls_of(index) != calls) return;
  for (const ModelNode& node : servers_) {
    for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
      if (!node.has_waiter(resource, waiter(index))) continue;
      return checker_.violated("invariant 5: a node keeps a turn or a place of client " +
                               std::to_string(index) + ", which gave up, on r" +
                               std::to_string(resource) + " of node " +
                               std::to_string(&node - servers_.data()));
    }
  }
}

void Simulation::release(std::uint32_t index, std::uint32_t slot) {
  Client& client = clients_[index];
  Slot& mine = client.slots[slot];
  tell("client ", index, " releases ", mine.token % 10'000);
  checker_.ended(mine.token, now_);
  freed(mine);
  mine.phase = Phase::over;
  mine.release = request(index, slot);
  end_lease(index, slot, mine.release);
}

void Simulation::act_handed_on(std::uint32_t index, std::uint32_t slot) {
  Slot& mine = clients_[index].slots[slot];
  if (mine.extend + mine.release != 0) return;
  const Digits digits = digits_of(mine.token);
  const Token token = *Token::parse({digits.data(), digits.size()});
  resource_ = name_of(mine.resource);
  const std::int64_t extends = scenario_.gives_per_mille > 0 ? 800 : 400;
  if (!healed_ && random_.per_mille(extends)) {
    mine.extend = request(index, slot);
    const auto ttl = std::chrono::milliseconds(scenario_.shortest_ttl_ms);
    if (random_.per_mille(extends + 100)) return adopt(index, mine, token, ttl);
    return step(index, core::ExtendToken{core::CallId{mine.extend}, resource_, token, ttl});
  }
  checker_.ended(mine.token, now_);
  mine.phase = Phase::over;
  mine.release = request(index, slot);
  step(index, core::ReleaseToken{core::CallId{mine.release}, resource_, token});
}

void Simulation::adopt(std::uint32_t index, const Slot& slot, const Token& token,
                       core::Duration ttl) {
  core::Adopt event;
  event.request = core::CallId{slot.extend};
  event.resource = resource_;
  event.token = token;
  event.ttl = ttl;
  event.group = groups[slot.group];
  event.renewal = {3, ttl * 4, random_.per_mille(500)};
  if (slot.fenced) event.fencing_number = slot.number;
  tell("client ", index, " asks to adopt ", slot.token % 10'000);
  step(index, event);
}

}  // namespace redlock::simulation
