#pragma once

#include <array>
#include <optional>

#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// Writes the client's name to the nodes, for people. The name is not part of the algorithm, and
/// nothing may depend on whether a node could write it. A node keeps the name for longer than any
/// lease that the client requested, so that a dead holder still has a name. A client that closes
/// without leaving a lease removes its name.
class Names {
 public:
  Names(const Settings& settings, const Instant& now, const Nodes& nodes, Outbox& outbox)
      : settings_(settings), now_(now), nodes_(nodes), outbox_(outbox) {}

  /// A request that sets or renews a lock of ours left for these nodes: the name follows it to
  /// those that are due.
  void write(NodeSet nodes) {
    if (!settings_.name.empty() && now_ >= next_ && !forgets_) write_where_due(nodes);
  }
  /// When the name is next to be written to nodes that have it. A node first gets the name with the
  /// first request for a lock on a connection.
  [[nodiscard]] Instant next_writing() const;
  void write_again();

  /// A lease is requested. If nodes have to keep the name for longer because of it, each node that
  /// has the name is due again.
  void outlast(Duration lease);
  /// For how long a node that is given the name now keeps it.
  [[nodiscard]] Duration kept() const noexcept;

  /// A lease outlives the client, and still needs its name.
  void note_detached() noexcept { detached_ = true; }
  /// The client closes: nodes are to forget its name, unless a detached lease needs it.
  void forget();
  /// Nodes that were asked to forget the name and have not answered.
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
  /// Whether the node was given the name on this connection, and can be given it again.
  [[nodiscard]] bool has_it(NodeIndex node) const noexcept {
    return due_[node] && *due_[node] < never;
  }

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  Outbox& outbox_;
  /// When each node is next due for the name. None: it was not given the name on this connection.
  /// `never`: it refused the name for good.
  std::array<std::optional<Instant>, limits::nodes> due_{};
  Instant next_ = Instant::min();  ///< until then no node is due
  Duration longest_lease_{};       ///< the longest lease that was requested
  bool detached_ = false;          ///< a lease outlives the client
  bool forgets_ = false;           ///< the client closes, and its name is removed
  NodeSet forgetting_;
};

}  // namespace redlock::core
