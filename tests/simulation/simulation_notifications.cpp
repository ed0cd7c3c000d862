#include <utility>

#include "simulation/simulation.hpp"

// The clients' connections for notifications, which may be late or lost.
namespace redlock::simulation {
namespace {

constexpr auto waited_resources = static_cast<std::uint32_t>(any_permit + 1);
/// The kinds of notification: for each queue, whether another client was notified before.
constexpr std::uint32_t notification_kinds = 2 * waited_resources;

}  // namespace

Simulation::Subscription& Simulation::subscription(std::uint32_t client, std::uint32_t node) {
  return subscriptions_[client * scenario_.nodes + node];
}

void Simulation::plan_notification(True at, Kind kind, std::uint32_t client, std::uint32_t node,
                                   std::uint32_t what) {
  plan(at, kind, client * scenario_.nodes + node,
       subscription(client, node).generation * notification_kinds + what);
}

void Simulation::subscribe(std::uint32_t client, std::uint32_t node) {
  Subscription& mine = subscription(client, node);
  mine = {Subscription::State::opening, mine.generation + 1, false, look_up(client, node)};
  plan_notification(transit(client, mine.server), Kind::subscribe, client, node, 0);
}

void Simulation::unsubscribe(std::uint32_t client, std::uint32_t node) {
  Subscription& mine = subscription(client, node);
  mine = {Subscription::State::closed, mine.generation + 1, false, mine.server};
}

void Simulation::break_subscription(std::uint32_t client, std::uint32_t node) {
  Subscription& mine = subscription(client, node);
  if (mine.state == Subscription::State::closed) return;
  // Notifications on their way belong to the earlier generation, and are lost.
  mine = {Subscription::State::closed, mine.generation + 1, false, mine.server};
  plan_notification(transit(client, mine.server), Kind::unsubscribed, client, node, 0);
}

void Simulation::note_notified(const Event& event) {
  const auto count = static_cast<std::uint32_t>(scenario_.nodes);
  const std::uint32_t client = event.a / count;
  const std::uint32_t node = event.a % count;
  Subscription& mine = subscription(client, node);
  if (mine.generation != event.b / notification_kinds) return;
  if (event.kind == Kind::subscribe) {
    ModelNode& server = servers_[mine.server];
    if (server.stopped_until > now_) {
      return plan(server.stopped_until, event.kind, event.a, event.b);
    }
    if (!server.running) return break_subscription(client, node);
    mine.state = Subscription::State::open;
    return plan_notification(transit(client, mine.server), Kind::subscribed, client, node, 0);
  }
  Client& target = clients_[client];
  if (!target.alive) return;
  if (target.paused_until > now_) {
    return plan(target.paused_until, event.kind, event.a, event.b);
  }
  const auto index = static_cast<core::NodeIndex>(node);
  if (event.kind == Kind::changed) {
    const std::string key = name_of(event.b % notification_kinds);
    tell("node ", node, " notifies client ", client, " that ", key, " has changed");
    return step(client, core::Changed{index, core::Tracked::resource, key});
  }
  if (event.kind == Kind::subscribed) return step(client, core::Subscribed{index});
  if (event.kind == Kind::unsubscribed) return step(client, core::Unsubscribed{index});
  const std::uint32_t what = event.b % notification_kinds;
  const std::string key = name_of(what % waited_resources);
  tell("node ", node, " notifies client ", client, " that ", key, " was given up, after ",
       what / waited_resources, " others");
  step(client, core::Notification{index, key, what / waited_resources});
}

std::uint64_t Simulation::waiter(std::uint32_t client) const {
  return (std::uint64_t{clients_[client].life} + 1) * clients_.size() + client;
}

std::int64_t Simulation::reserved_ms(std::uint32_t client) const {
  // The planted fault counts round trips to the slowest node instead of those to the slowest of a
  // quorum.
  if (scenario_.mutant == Mutant::reserved_for_the_slowest) return 16 * scenario_.far / ms;
  return clients_[client].engine->reserved_for() / core::Duration(std::chrono::milliseconds(1));
}

bool Simulation::publish(std::uint32_t server, std::uint64_t id, std::size_t resource,
                         std::uint32_t before) {
  const auto client = static_cast<std::uint32_t>(id % clients_.size());
  const std::uint32_t node = node_of(server);
  const Subscription& mine = subscription(client, node);
  const bool listens = id == waiter(client) && mine.state == Subscription::State::open;
  if (!listens || mine.server != server) return false;
  if (mine.silent) return true;
  const auto what = static_cast<std::uint32_t>(before * waited_resources + resource);
  plan_notification(transit(client, server), Kind::notified, client, node, what);
  return true;
}

void Simulation::note_changes(std::uint32_t node, std::optional<std::uint32_t> by) {
  note_watched();
  if (!scenario_.tracks) return;
  for (std::size_t resource = 0; resource < scenario_.resources; ++resource) {
    const std::uint64_t holder = servers_[node].holder(resource, now_);
    if (std::exchange(seen_[node][resource], holder) == holder) continue;
    for (std::uint32_t client = 0; client < clients_.size(); ++client) {
      const bool tracked = std::exchange(tracks(client, node, resource), false);
      if (!tracked || by == client) continue;
      plan_notification(transit(client, node), Kind::changed, client, node,
                        static_cast<std::uint32_t>(resource));
    }
  }
}

}  // namespace redlock::simulation
