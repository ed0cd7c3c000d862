#pragma once

#include <cstddef>

#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"

namespace redlock::core {

/// Reads markers after votes: under the restart guard, a vote counts only with the marker that is
/// read after it on the same connection, and is held back until then. One reading covers all votes
/// of a turn.
class MarkerProof {
 public:
  MarkerProof(const Settings& settings, const Nodes& nodes, Outbox& outbox)
      : settings_(settings), nodes_(nodes), outbox_(outbox) {}

  /// A request left for these nodes.
  void sent(Verb verb, NodeSet nodes) {
    if (settings_.restart_guard && is_vote(verb)) unproven_ = unproven_ | nodes;
    if (verb == Verb::break_lock) {
      nodes.each([&](NodeIndex node) {
        if (delays_by_reign(nodes_[node], verb)) unproven_.add(node);
      });
    }
    if (is_short(verb)) floor_wanted_ = floor_wanted_ | nodes;
  }
  /// Nodes that were sent a request for a vote since the last turn ended.
  [[nodiscard]] NodeSet unproven() const noexcept { return unproven_; }
  void end_turn();
  /// Reads the marker of a node from which no vote is requested: no vote would show a change of it.
  /// Without `wants_votes` it writes nothing.
  void read(NodeIndex node, bool wants_votes);
  void dropped(NodeIndex node) noexcept {
    unproven_.remove(node);
    floor_wanted_.remove(node);
  }

  /// Whether the node's answer is held back: it needs the reading after it, or follows an answer
  /// that is held back.
  [[nodiscard]] bool holds_back(const Link& link, Verb verb) const {
    return link.in_flight->has_held_back() || (settings_.restart_guard && is_vote(verb)) ||
           delays_by_reign(link, verb);
  }
  /// The number of leading answers that need not be held back: the marker that was read after them
  /// arrived with them, unchanged.
  [[nodiscard]] std::size_t confirmed(const PlainYeses& event) const;

 private:
  /// A replicated node keeps the delay after a break only if the reign of its primary stands.
  [[nodiscard]] static bool delays_by_reign(const Link& link, Verb verb) {
    return verb == Verb::break_lock && link.reign->is_replicated();
  }

  const Settings& settings_;
  const Nodes& nodes_;
  Outbox& outbox_;
  NodeSet unproven_;      ///< nodes whose votes no reading follows
  NodeSet floor_wanted_;  ///< nodes among `unproven_` whose floor is to be read, too
};

}  // namespace redlock::core
