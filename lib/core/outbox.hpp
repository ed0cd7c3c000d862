#pragma once

#include <vector>

#include "core/link.hpp"
#include "core/messages.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// The commands of one step. The only place that emits a request, and that enters it among the
/// requests in flight on its connection: each answer finds exactly one entry.
class Outbox {
 public:
  explicit Outbox(std::vector<Link>& links) : links_(links) {}

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
  Command& send(NodeSet nodes, const Stamp& stamp, Command::Kind kind = Command::Kind::send) {
    REDLOCK_ASSERT(!nodes.empty());
    nodes.each([&](NodeIndex node) { links_[node].sent(stamp, now_); });
    Command& command = emit(kind);
    command.nodes = nodes;
    command.stamp = stamp;
    return command;
  }
  /// A request that belongs to no claim.
  Command& send(NodeSet nodes, Verb verb, Command::Kind kind = Command::Kind::send) {
    Stamp stamp;
    stamp.verb = verb;
    return send(nodes, stamp, kind);
  }

 private:
  std::vector<Link>& links_;
  std::vector<Command>* commands_ = nullptr;
  Instant now_{};
};

}  // namespace redlock::core
