#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// How far each node's clock had stepped at an instant (`NodeClock::stepped`).
using StepMarks = std::array<Duration, limits::nodes>;
/// At this mark, steps can no longer be counted, and the node is trusted with no key.
inline constexpr Duration uncountable_steps = Duration::max();

/// Marks that all leases between two steps share; null before any clock has stepped.
using SharedMarks = std::shared_ptr<const StepMarks>;

/// The basis of a deadline: the nodes of the round that won it. If a node's clock has stepped
/// forward since, its key expires earlier by as much.
struct ValidityBasis {
  std::uint16_t round = 0;  ///< the round that won the deadline
  NodeSet nodes;            ///< nodes that granted or extended in that round, late ones included
  std::uint8_t votes_needed = 0;  ///< the quorum of the round
  SharedMarks steps{};            ///< the clocks' steps when the round began
  Instant until{};                ///< the deadline that the round won, if no clock steps

  /// The latest instant at which a quorum of these nodes still has the key.
  [[nodiscard]] Instant deadline(const SharedMarks& now, std::size_t quorum) const noexcept;
};

}  // namespace redlock::core
