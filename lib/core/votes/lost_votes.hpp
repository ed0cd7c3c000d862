#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/vocabulary/node_set.hpp"

namespace redlock::core {

/// The order in which nodes lost their votes. Claims look here when it matters to them, so the end
/// of a connection need not visit every claim.
class LostVotes {
 public:
  void lose(NodeIndex node) noexcept { lost_[node] = ++count_; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] NodeSet since(std::uint32_t count) const noexcept {
    NodeSet nodes;
    for (std::size_t node = 0; node < lost_.size(); ++node) {
      if (lost_[node] > count) nodes.add(static_cast<NodeIndex>(node));
    }
    return nodes;
  }

 private:
  std::uint32_t count_ = 0;
  std::array<std::uint32_t, limits::nodes> lost_{};
};

}  // namespace redlock::core
