#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/membership/enrolment.hpp"

/// Questions about a client's view of its nodes, shared by the files of Enrolment.
namespace redlock::core {

[[nodiscard]] inline bool is_in(const NodeView& node, Marker::State state) {
  return node.usable && node.marker != nullptr && node.marker->state == state;
}

[[nodiscard]] inline bool carries(const NodeView& node, const Marker& deployment) {
  return is_in(node, Marker::State::active) && node.marker->deployment == deployment.deployment &&
         node.marker->members == deployment.members;
}

template <typename Which>
[[nodiscard]] NodeSet nodes_where(std::span<const NodeView> nodes, Which&& which) {
  NodeSet found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (which(nodes[i])) found.add(static_cast<NodeIndex>(i));
  }
  return found;
}

/// The node whose run_id comes first. All clients see the same run_ids, whatever names they use: if
/// two clients open at once, one of them fails at its first writing.
[[nodiscard]] inline NodeIndex first_by_run_id(NodeSet which, std::span<const NodeView> nodes) {
  std::optional<NodeIndex> first;
  which.each([&](NodeIndex node) {
    if (!first || nodes[node].marker->run_id < nodes[*first].marker->run_id) first = node;
  });
  return first.value_or(NodeIndex{0});
}

[[nodiscard]] inline Marker follow_up(const Marker& marker, Randomness& random) {
  Marker next = marker;
  next.incarnation = random.token().str();
  return next;
}

}  // namespace redlock::core
