#pragma once

#include <vector>

#include "core/messages.hpp"
#include "core/node_set.hpp"
#include "core/nodes.hpp"
#include "core/time.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// The commands of one step. The only place that emits a request, and that enters it among the
/// requests in flight on its connection: each answer finds exactly one entry.
class Outbox {
 public:
  explicit Outbox(Nodes& nodes) : nodes_(nodes) {}

  /// A step begins: its commands are appended to `commands`.
  void open(Instant now, std::vector<Command>& commands) noexcept {
    now_ = now;
    commands_ = &commands;
  }
  void close() noexcept { commands_ = nullptr; }

  /// A command that sends no request. Lives until the next one.
  Command& emit(Command::Kind kind) {
    Command& command = commands_->emplace_back();
    command.kind = kind;
    return command;
  }
  void emit(const Command& command) { commands_->push_back(command); }
  /// A command that is about one node.
  void emit(Command::Kind kind, NodeIndex node) { emit(kind).nodes = NodeSet::of(node); }

  /// A request to each of these nodes, which are up. The command lives until the next one.
  Command& send(NodeSet receivers, const Stamp& stamp, Command::Kind kind = Command::Kind::send) {
    REDLOCK_ASSERT(!receivers.empty());
    receivers.each([&](NodeIndex node) { nodes_[node].sent(stamp, now_); });
    Command& command = emit(kind);
    command.nodes = receivers;
    command.stamp = stamp;
    return command;
  }
  /// A request that belongs to no claim.
  Command& send(NodeSet receivers, Verb verb, Command::Kind kind = Command::Kind::send) {
    Stamp stamp;
    stamp.verb = verb;
    return send(receivers, stamp, kind);
  }

 private:
  Nodes& nodes_;
  std::vector<Command>* commands_ = nullptr;
  Instant now_{};
};

}  // namespace redlock::core
