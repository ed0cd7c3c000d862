#include "simulation/simulation.hpp"

// Connections on which clients listen for what is given up: what is told there may be late or lost.
namespace redlock::simulation {

Simulation::Ear& Simulation::ear(std::uint32_t client, std::uint32_t node) {
  return ears_[client * nodes_.size() + node];
}

void Simulation::plan_for_ear(True at, Kind kind, std::uint32_t client, std::uint32_t node,
                              std::size_t resource) {
  plan(at, kind, client * nodes_.size() + node,
       ear(client, node).generation * most_resources + resource);
}

void Simulation::listen(std::uint32_t client, std::uint32_t node, std::size_t resource) {
  Ear& mine = ear(client, node);
  if (!mine.open) {
    mine = {true, mine.generation + 1, 0};
  }
  plan_for_ear(transit(client, node), Kind::subscribe, client, node, resource);
}

void Simulation::stop_listening(std::uint32_t client, std::uint32_t node) {
  Ear& mine = ear(client, node);
  mine = {false, mine.generation + 1, 0};
}

void Simulation::break_ear(std::uint32_t client, std::uint32_t node) {
  Ear& mine = ear(client, node);
  if (!mine.open) return;
  // What was on its way is of the generation before, and lost.
  mine = {true, mine.generation + 1, 0};
  plan_for_ear(transit(client, node), Kind::deaf, client, node, 0);
}

void Simulation::hear(const Event& event) {
  const auto count = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t client = event.a / count;
  const std::uint32_t node = event.a % count;
  const std::size_t resource = event.b % most_resources;
  Ear& mine = ear(client, node);
  if (mine.generation != event.b / most_resources) return;
  if (event.kind == Kind::subscribe) {
    ModelNode& server = nodes_[node];
    if (server.stopped_until > now_) {
      return plan(server.stopped_until, event.kind, event.a, event.b);
    }
    if (!server.running) return break_ear(client, node);
    mine.resources |= 1U << resource;
    return plan_for_ear(transit(client, node), Kind::telling, client, node, resource);
  }
  Client& target = clients_[client];
  if (!target.alive) return;
  if (target.paused_until > now_) {
    return plan(target.paused_until, event.kind, event.a, event.b);
  }
  const auto index = static_cast<core::NodeIndex>(node);
  const std::string key = name_of(resource);
  if (event.kind == Kind::telling) return step(client, core::Telling{index, key});
  if (event.kind == Kind::hint) {
    tell("node ", node, " tells client ", client, " that ", key, " was given up");
    return step(client, core::Hint{index, key});
  }
  mine.open = false;
  step(client, core::Deaf{index});
}

void Simulation::tell_listeners(std::uint32_t node, std::uint32_t resources) {
  for (std::size_t resource = 0; resource < most_resources; ++resource) {
    if (((resources >> resource) & 1U) == 0) continue;
    for (std::uint32_t client = 0; client < clients_.size(); ++client) {
      const Ear& other = ear(client, node);
      if (!other.open || ((other.resources >> resource) & 1U) == 0) continue;
      plan_for_ear(transit(client, node), Kind::hint, client, node, resource);
    }
  }
}

}  // namespace redlock::simulation
