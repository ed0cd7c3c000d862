#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/claim/quorum.hpp"
#include "core/engine/commands.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"

namespace redlock::core::test {

using namespace std::chrono_literals;

inline Settings settings_of(std::size_t nodes) {
  Settings settings;
  for (std::size_t i = 0; i < nodes; ++i) settings.nodes.push_back("node" + std::to_string(i));
  settings.quorum = majority(nodes);
  settings.name = "backup";
  return settings;
}

/// What most duties borrow, without an engine: the settings, the time, the nodes, all of which are
/// up, and the commands of a step.
struct Borrowed {
  explicit Borrowed(Settings with) : settings(std::move(with)) {
    begin_step();
    for (NodeIndex node = 0; node < settings.nodes.size(); ++node) come_up(node);
  }
  explicit Borrowed(std::size_t size) : Borrowed(settings_of(size)) {}

  void begin_step(Duration passed = 0s) {
    now = later(now, passed);
    nodes.set_now(now);
    commands.clear();
    outbox.open(now, commands);
  }
  void come_up(NodeIndex node) {
    nodes[node].connecting(now);
    NodeUp event;
    const std::string server = "server" + std::to_string(node);
    event.node = node;
    event.server = server;
    event.connection = ++connections;
    event.capabilities = {Capability::run_scripts, Capability::track};
    nodes[node].came_up(event, now);
  }
  /// Nodes that this step has sent such a request.
  [[nodiscard]] NodeSet asked(Verb verb) const {
    NodeSet asked;
    for (const Command& command : commands) {
      const Request* const request = request_in(command);
      if (request != nullptr && request->stamp.verb == verb) asked = asked | request->nodes;
    }
    return asked;
  }
  template <typename Message>
  [[nodiscard]] std::size_t count() const {
    std::size_t count = 0;
    for (const Command& command : commands) count += std::holds_alternative<Message>(command);
    return count;
  }
  /// The oldest request of the node is answered.
  Arrival answered(NodeIndex node, Verb verb) { return nodes[node].answered(Stamp(verb), now); }

  Settings settings;
  Instant now{};
  Nodes nodes{settings};
  std::vector<Command> commands;
  Outbox outbox{nodes};
  std::int64_t connections = 0;
};

}  // namespace redlock::core::test
