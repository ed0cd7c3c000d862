#include "simulation/simulation.hpp"

// Connections on which clients listen to what they are told: that may be late or lost.
namespace redlock::simulation {

Simulation::Ear& Simulation::ear(std::uint32_t client, std::uint32_t node) {
  return ears_[client * nodes_.size() + node];
}

void Simulation::plan_for_ear(True at, Kind kind, std::uint32_t client, std::uint32_t node,
                              std::uint32_t what) {
  plan(at, kind, client * nodes_.size() + node, ear(client, node).generation * 16 + what);
}

void Simulation::listen(std::uint32_t client, std::uint32_t node) {
  Ear& mine = ear(client, node);
  mine = {Ear::State::opening, mine.generation + 1};
  plan_for_ear(transit(client, node), Kind::subscribe, client, node, 0);
}

void Simulation::stop_listening(std::uint32_t client, std::uint32_t node) {
  Ear& mine = ear(client, node);
  mine = {Ear::State::closed, mine.generation + 1};
}

void Simulation::break_ear(std::uint32_t client, std::uint32_t node) {
  Ear& mine = ear(client, node);
  if (mine.state == Ear::State::closed) return;
  // What was on its way is of the generation before, and lost.
  mine = {Ear::State::closed, mine.generation + 1};
  plan_for_ear(transit(client, node), Kind::deaf, client, node, 0);
}

void Simulation::hear(const Event& event) {
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t client = event.a / count;
  const std::uint32_t node = event.a % count;
  Ear& mine = ear(client, node);
  if (mine.generation != event.b / 16) return;
  if (event.kind == Kind::subscribe) {
    ModelNode& server = nodes_[node];
    if (server.stopped_until > now_) {
      return plan(server.stopped_until, event.kind, event.a, event.b);
    }
    if (!server.running) return break_ear(client, node);
    mine.state = Ear::State::open;
    return plan_for_ear(transit(client, node), Kind::listening, client, node, 0);
  }
  Client& target = clients_[client];
  if (!target.alive) return;
  if (target.paused_until > now_) {
    return plan(target.paused_until, event.kind, event.a, event.b);
  }
  const auto index = static_cast<core::NodeIndex>(node);
  if (event.kind == Kind::listening) return step(client, core::Listening{index});
  if (event.kind == Kind::deaf) return step(client, core::Deaf{index});
  const std::uint32_t what = event.b % 16;
  const std::string key = name_of(what % most_resources);
  tell("node ", node, " tells client ", client, " that ", key, " was given up, after ",
       what / most_resources, " others");
  step(client, core::Hint{index, key, what / static_cast<std::uint32_t>(most_resources)});
}

std::uint64_t Simulation::waiter(std::uint32_t client) const {
  return std::uint64_t{clients_[client].life} * clients_.size() + client;
}

void Simulation::tell_waiters(std::uint32_t node, std::uint32_t resources) {
  for (std::size_t resource = 0; resource < most_resources; ++resource) {
    if (((resources >> resource) & 1U) == 0) continue;
    std::vector<std::uint64_t>& queue = nodes_[node].queue(resource);
    std::uint32_t told = 0;
    while (told < 2 && told < queue.size()) {
      const auto client = static_cast<std::uint32_t>(queue[told] % clients_.size());
      const bool listens =
          queue[told] == waiter(client) && ear(client, node).state == Ear::State::open;
      if (!listens) {
        queue.erase(queue.begin() + told);
        continue;
      }
      const auto what = static_cast<std::uint32_t>(told * most_resources + resource);
      plan_for_ear(transit(client, node), Kind::hint, client, node, what);
      ++told;
    }
  }
}

}  // namespace redlock::simulation
