#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/votes/quorum.hpp"
#include "core/votes/validity.hpp"
#include "simulation/simulation.hpp"

/// Operators. One opens a deployment: at the beginning, and when too few nodes remember it for the
/// clients to take the others back. `bootstrap` is one step here: the models check what happens
/// between its writes. Another one breaks locks, by a client of its own.
namespace redlock::simulation {

using core::Marker;

void Simulation::open_deployment() {
  if (scenario_.restart_guard) write_markers("deployment", "opened");
}

void Simulation::write_markers(std::string_view deployment, std::string_view incarnation) {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = incarnation;
  marker.deployment = deployment;
  marker.max_ttl = std::chrono::milliseconds(scenario_.longest_ttl_ms);
  marker.durable = scenario_.durable;
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) marker.members.push_back(member_name(i));
  std::sort(marker.members.begin(), marker.members.end());
  for (std::uint32_t i = 0; i < scenario_.nodes; ++i) {
    const std::uint32_t server = leaders_[i];
    std::string& text = servers_[server].marker();
    marker.run_id = run_id_of(server);
    marker.replid = memory_of(server).history;
    marker.self = member_name(i);
    const auto known = core::parse_marker(text);
    const bool forgot =
        !known || !is_of_process(*known, server) || known->state == Marker::State::blank;
    marker.remembers_since = opened_ == 0 ? Marker::always
                             : forgot     ? Marker::from_its_writing
                                          : known->remembers_since;
    const std::string time =
        opened_ == 0 ? "1" : std::to_string(servers_[server].clock.local(now_) / 1000);
    text = core::format_marker(marker) + ' ' + time;
  }
}

bool Simulation::is_of_process(const Marker& marker, std::uint32_t server) const {
  return marker.run_id == run_id_of(server) &&
         !core::forgets(core::change_of_memory(marker.replid, memory_of(server)));
}

bool Simulation::closed_for_clients() const {
  std::map<std::string, std::size_t> carriers;
  std::size_t blank = 0;
  for (const std::uint32_t i : leaders_) {
    const auto marker = core::parse_marker(servers_[i].marker());
    if (!marker || !is_of_process(*marker, i) || marker->state == Marker::State::blank) {
      ++blank;
    } else if (marker->state == Marker::State::active) {
      ++carriers[core::deployment_text(*marker)];
    }
  }
  if (blank == scenario_.nodes || carriers.empty()) return false;
  return std::all_of(carriers.begin(), carriers.end(), [&](const auto& deployment) {
    return deployment.second < core::majority(scenario_.nodes);
  });
}

void Simulation::operate() {
  if (!closed_for_clients()) return;
  const bool ready = std::all_of(leaders_.begin(), leaders_.end(), [&](std::uint32_t i) {
    const ModelNode& node = servers_[i];
    return node.running && now_ >= std::max(node.stopped_until, node.read_only_until) &&
           !node.has_keys(now_);
  });
  if (!ready) return;
  tell("an operator opens the deployment again");
  ++opened_;
  write_markers("deployment" + std::to_string(opened_), "opened" + std::to_string(opened_));
  const auto longest = std::chrono::ceil<std::chrono::milliseconds>(quarantine());
  for (const std::uint32_t i : leaders_) servers_[i].quarantine(longest.count(), now_);
}

std::optional<Simulation::ChosenLock> Simulation::choose_lock() {
  std::vector<ChosenLock> locks;
  if (random_.per_mille(700)) {
    for (const Client& client : clients_) {
      for (const Slot& slot : client.slots) {
        if (slot.phase != Phase::holding) continue;
        for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
          if ((slot.resources >> resource & 1U) != 0) locks.push_back({slot.token, resource});
        }
      }
    }
  } else {
    // What an attempt left, or the delay after another break.
    const auto node = static_cast<std::uint32_t>(random_.below(static_cast<True>(scenario_.nodes)));
    for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
      for (const std::uint64_t token : leader(node).holders(resource, now_)) {
        locks.push_back({token, resource});
      }
    }
  }
  if (locks.empty()) return std::nullopt;
  return locks[static_cast<std::size_t>(random_.below(static_cast<True>(locks.size())))];
}

void Simulation::break_some_lock(std::uint32_t index, std::uint32_t slot) {
  Slot& mine = clients_[index].slots[slot];
  mine.served = healed_;
  if (healed_ || mine.release != 0) return;
  const auto chosen = choose_lock();
  if (!chosen) return plan_act(index, slot, random_.below(2 * scenario_.between_operations));
  mine.release = request(index, slot);
  mine.resource = chosen->resource;
  mine.broken_at = now_;
  // A request that ends a delay early can arrive late, and then end a later one as well: nothing
  // could be said of the delays of that operator.
  const bool delays = is_delay(chosen->token) || random_.per_mille(700);
  const auto delay_ms = !delays                  ? 0
                        : random_.per_mille(500) ? scenario_.longest_ttl_ms
                                                 : random_.between(1, scenario_.longest_ttl_ms);
  mine.delay = std::chrono::milliseconds(delay_ms);
  tell("operator ", index, " breaks ", chosen->token % 10'000, " on r", mine.resource,
       " with a delay of ", delay_ms, " ms");
  checker_.broken(chosen->token, 1U << mine.resource, kept_until(mine));
  const Digits digits = digits_of(chosen->token);
  const std::string resource = name_of(mine.resource);
  core::ReleaseToken event{core::CallId{mine.release}, resource,
                           *Token::parse({digits.data(), digits.size()})};
  event.by_operator = true;
  event.delay = mine.delay;
  step(index, event);
}

True Simulation::kept_until(const Slot& slot) {
  const core::Duration kept = slot.delay - core::drift(slot.delay);
  return slot.broken_at + std::max<True>(kept.count(), 0);
}

void Simulation::note_broken(std::uint32_t index, std::uint32_t slot, bool success) {
  Slot& mine = clients_[index].slots[slot];
  mine.release = 0;
  if (success && mine.delay > core::Duration::zero()) {
    checker_.kept_out(1U << mine.resource, now_, kept_until(mine));
  }
  plan_act(index, slot, random_.below(2 * scenario_.between_operations));
}

}  // namespace redlock::simulation
