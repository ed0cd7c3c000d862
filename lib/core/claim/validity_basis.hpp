#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/nodes/node_set.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// How far each node's clock had stepped at an instant (`NodeClock::stepped`).
using StepMarks = std::array<Duration, limits::nodes>;

/// The same for all leases between two steps; none where no clock has stepped yet.
using SharedMarks = std::shared_ptr<const StepMarks>;

/// What a deadline rests on: the nodes of the round that won it. A node whose clock has stepped
/// forward since lets its key expire early by as much.
struct ValidityBasis {
  std::uint16_t round = 0;
  NodeSet nodes;                  ///< that granted or extended in that round, stragglers too
  std::uint8_t votes_needed = 0;  ///< a quorum of the round
  SharedMarks steps{};            ///< when it began
  Instant until{};                ///< what it won, had no clock stepped

  /// The latest instant at which a quorum of them still has the key.
  [[nodiscard]] Instant deadline(const SharedMarks& now, std::size_t quorum) const noexcept;
};

}  // namespace redlock::core
