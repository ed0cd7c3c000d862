#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/node_set.hpp"
#include "core/time.hpp"
#include "redlock/error.hpp"
#include "redlock/limits.hpp"
#include "redlock/metrics.hpp"
#include "redlock/report.hpp"

namespace redlock::core {

/// A histogram that is being made.
struct RecordedDurations : DurationHistogram {
  void record(Duration duration) noexcept {
    const auto length = static_cast<std::uint64_t>(duration.count());
    // A bound itself belongs to the bucket below it.
    const std::uint64_t below = (length + (length == 0 ? 1U : 0U) - 1) | 1023U;
    ++counts[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(below)) - 10, bounds)];
    sum += decltype(sum)(length);
  }
};

/// What an engine counts as it goes: a few instructions each, and nothing is allocated. Decides
/// nothing. See Metrics for what each count means.
struct Meter {
  struct Node {
    RecordedDurations round_trips;  ///< of all requests for a vote that were answered
    /// Of those that were answered and counted as none of the others.
    [[nodiscard]] std::uint64_t granted() const noexcept {
      return round_trips.count() - answered_otherwise;
    }
    std::uint64_t answered_otherwise = 0;  ///< what is granted, most of all, costs nothing to count
    std::array<std::uint64_t, static_cast<std::size_t>(Vote::excluded) + 1> votes{};
    std::uint64_t connections = 0;
    std::uint64_t fencing_raises = 0;
  };

  std::array<std::uint64_t, static_cast<std::size_t>(Errc::limit_reached) + 1> failed{};
  std::uint64_t granted = 0;
  std::uint64_t attempts = 0;
  std::uint64_t handovers = 0;
  RecordedDurations waits;
  RecordedDurations holds;
  std::uint64_t renewals_done = 0;
  std::uint64_t renewals_failed = 0;
  std::uint64_t lost = 0;
  std::uint64_t fenced_in_one_round = 0;
  std::uint64_t fenced_in_more_rounds = 0;
  std::uint64_t waiting = 0;
  std::array<Node, limits::nodes> nodes;

  void failure(Errc code) noexcept { ++failed[static_cast<std::size_t>(code)]; }
  /// Of a node that answered, and did not grant.
  void answered(NodeIndex node, Vote vote) noexcept {
    this->vote(node, vote);
    ++nodes[node].answered_otherwise;
  }
  /// Of one that did not.
  void vote(NodeIndex node, Vote vote) noexcept {
    ++nodes[node].votes[static_cast<std::size_t>(vote)];
  }
};

}  // namespace redlock::core
