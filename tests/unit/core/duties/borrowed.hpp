#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/commands.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/quorum.hpp"
#include "unit/core/anybody.hpp"

namespace redlock::core::test {

using namespace std::chrono_literals;

inline Settings settings_of(std::size_t nodes) {
  Settings settings;
  for (std::size_t i = 0; i < nodes; ++i) settings.nodes.push_back("node" + std::to_string(i));
  settings.quorum = majority(nodes);
  settings.name = "backup";
  return settings;
}

/// Tokens r1, r2, …; every random pause is the shortest allowed.
class BorrowedRandomness final : public Randomness {
 public:
  [[nodiscard]] Token token() override { return *Token::parse("r" + std::to_string(++tokens_)); }
  [[nodiscard]] Duration between(Duration from, Duration /*to*/) override { return from; }

 private:
  int tokens_ = 0;
};

/// What most duties borrow, without an engine: the settings, the time, the nodes, which are all up,
/// and the commands of a step.
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
  void come_up(NodeIndex node) { come_up(node, "server" + std::to_string(node)); }
  void come_up(NodeIndex node, const std::string& server, std::uint64_t evicted = 0) {
    nodes[node].contact.by(me).connecting(now);
    NodeUp event;
    event.node = node;
    event.server = server;
    event.connection = ++connections;
    event.capabilities = {Capability::run_scripts, Capability::track};
    event.evicted = evicted;
    nodes[node].came_up(me, event, now);
  }
  void go_down(NodeIndex node) {
    nodes[node].went_down(me, now, Vote::unreachable, "it is gone", random);
    while (nodes[node].in_flight.by(me).take()) continue;
  }
  /// A marker of this server process, by default as an active member of the deployment of these
  /// nodes.
  [[nodiscard]] Marker marker_of(NodeIndex node,
                                 Marker::State state = Marker::State::active) const {
    Marker marker;
    marker.state = state;
    marker.incarnation = "i";
    marker.run_id = "server" + std::to_string(node);
    marker.replid = "r";
    marker.max_ttl = std::chrono::ceil<std::chrono::milliseconds>(settings.max_ttl);
    if (state == Marker::State::blank) return marker;
    marker.deployment = "deployment";
    marker.members = {settings.nodes.begin(), settings.nodes.begin() + 3};
    marker.self = settings.nodes[node];
    return marker;
  }
  /// Gives the node this marker, from now on.
  void mark(NodeIndex node, const Marker& marker) {
    nodes[node].mandate.by(me).take_marker(format_marker(marker) + " 1", now);
    nodes.judge_marker(node);
  }
  /// The nodes that this step has sent such a request.
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
  /// An answer to the node's oldest request, which stays open for now.
  [[nodiscard]] Answer answer_to_oldest(NodeIndex node, Reply reply) const {
    std::optional<Stamp> oldest;
    nodes[node].in_flight->each([&](const Stamp& stamp) { oldest = oldest.value_or(stamp); });
    Answer answer;
    answer.node = node;
    answer.stamp = oldest.value();
    answer.reply = reply;
    return answer;
  }
  /// The node answers its oldest request.
  Answer answer(NodeIndex node, Reply reply) {
    const Answer answer = answer_to_oldest(node, reply);
    static_cast<void>(nodes[node].answered(me, answer.stamp, now));
    return answer;
  }
  /// The oldest request of the node is answered.
  Arrival answered(NodeIndex node, Verb verb) { return nodes[node].answered(me, Stamp(verb), now); }

  BorrowedRandomness random;
  Settings settings;
  Instant now{};
  Nodes nodes{settings};
  std::vector<Command> commands;
  Outbox outbox{nodes};
  std::int64_t connections = 0;
};

}  // namespace redlock::core::test
