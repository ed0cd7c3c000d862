#pragma once

#include <cstddef>

#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"

namespace redlock::core {

/// Under the restart guard, a vote counts only with the marker that is read after it on the same
/// connection: one reading covers all votes of a turn. Until then they are held back.
class MarkerCover {
 public:
  MarkerCover(const Settings& settings, const Nodes& nodes, Outbox& outbox)
      : settings_(settings), nodes_(nodes), outbox_(outbox) {}

  /// A request left for these nodes.
  void sent(Verb verb, NodeSet nodes) {
    if (settings_.restart_guard && is_vote(verb)) uncovered_ = uncovered_ | nodes;
    if (is_short(verb)) floor_wanted_ = floor_wanted_ | nodes;
  }
  /// Nodes that were asked for a vote since the last turn ended.
  [[nodiscard]] NodeSet uncovered() const noexcept { return uncovered_; }
  void end_turn();
  /// Reads the marker of a node while no vote is asked for, which would show a change.
  void read(NodeIndex node);
  void dropped(NodeIndex node) noexcept {
    uncovered_.remove(node);
    floor_wanted_.remove(node);
  }

  /// Whether the node's answer waits for the reading after it, or for an answer that does.
  [[nodiscard]] bool holds_back(const Link& link, Verb verb) const {
    return link.holds_back() || (settings_.restart_guard && is_vote(verb));
  }
  /// How many of the first answers need not be held back: the marker that was read after them came
  /// with them, unchanged.
  [[nodiscard]] std::size_t confirmed(const Assents& event) const;

 private:
  const Settings& settings_;
  const Nodes& nodes_;
  Outbox& outbox_;
  NodeSet uncovered_;
  NodeSet floor_wanted_;  ///< of them: the floor is to be read as well
};

}  // namespace redlock::core
