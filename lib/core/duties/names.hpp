#pragma once

#include <array>
#include <optional>

#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// A client's name on the nodes: for people, and no part of the algorithm. A node keeps it longer
/// than any lease that the client asked for, so that a dead holder has a name as well. A client
/// that closes and leaves no lease takes it along. Nothing depends on whether a node could write
/// it.
class Names {
 public:
  Names(const Settings& settings, const Instant& now, const Nodes& nodes, Outbox& outbox)
      : settings_(settings), now_(now), nodes_(nodes), outbox_(outbox) {}

  /// A request for a lock left for these nodes: those that are due are given the name after it.
  void write(NodeSet nodes) {
    if (!settings_.name.empty() && now_ >= next_ && !forgets_) write_where_due(nodes);
  }
  /// When nodes that were given it are to be given it again. It is first written with the first
  /// request for a lock on a connection.
  [[nodiscard]] Instant next_writing() const;
  void write_again();

  /// A lease is asked for. If it is longer than any before, each node that has the name is due for
  /// it again.
  void cover(Duration lease);
  /// For how long a node that is given the name now keeps it.
  [[nodiscard]] Duration kept() const noexcept;

  /// A lease outlives the client, and is ours by name.
  void note_detached() noexcept { detached_ = true; }
  /// The client closes.
  void forget();
  /// Nodes that were asked to forget it, and have not answered.
  [[nodiscard]] NodeSet forgetting() const noexcept { return forgetting_; }

  // --- events -----------------------------------------------------------------------------------
  void came_up(NodeIndex node) noexcept {
    due_[node].reset();
    next_ = Instant::min();
  }
  void answered(const Answer& answer);

 private:
  void write_where_due(NodeSet nodes);
  void send(NodeSet nodes);
  /// Whether the node was given it on this connection, and may be given it again.
  [[nodiscard]] bool has_it(NodeIndex node) const noexcept {
    return due_[node] && *due_[node] < never;
  }

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  Outbox& outbox_;
  /// When the node is to be given it again; none: it was not given it on this connection.
  std::array<std::optional<Instant>, limits::nodes> due_{};
  Instant next_ = Instant::min();  ///< until then no node is due
  Duration longest_lease_{};
  bool detached_ = false;
  bool forgets_ = false;
  NodeSet forgetting_;
};

}  // namespace redlock::core
