#pragma once

#include <cstdint>
#include <deque>

#include "core/containers/pool.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/waiting/acquisition.hpp"

namespace redlock::core {

/// Makes attempts wait, in the order in which they came, until the nodes have answered other
/// requests. A hundred thousand callers can wait at once, and a connection takes a limited number
/// of requests. Attempts that met full connections would fail and try again, and delay the answers
/// that make room.
class SpaceQueue {
 public:
  SpaceQueue(const Settings& settings, const Nodes& nodes, Pool<Acquisition>& acquisitions)
      : settings_(settings), nodes_(nodes), acquisitions_(acquisitions) {}

  /// Whether a quorum of the voters can take more requests.
  [[nodiscard]] bool has_space(const Nodes::Ballot& ballot) const;
  void wait(Acquisition& acquisition);
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  /// Removes and returns the acquisition that is to try now; null: none.
  [[nodiscard]] Acquisition* next();

 private:
  static constexpr By<SpaceQueue> me{};

  struct Waiting {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
  };

  const Settings& settings_;
  const Nodes& nodes_;
  Pool<Acquisition>& acquisitions_;
  std::deque<Waiting> waiting_;  ///< in the order in which they came
};

}  // namespace redlock::core
