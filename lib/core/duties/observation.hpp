#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// The callers that want to know of every change of one resource. They share one inspection at the
/// beginning, and one after each change. Nodes notify the client of changes (TrackedKeys); if too
/// few do, it polls.
struct Observation {
  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;

  struct Observer {
    CallId request{};
    Duration poll_interval{};
  };
  std::vector<Observer> observers;  ///< in the order in which they came
  std::string resource;
  ClaimId inspecting{};                   ///< the inspection under way
  NodeSet changed;                        ///< nodes on which the resource changed since the
                                          ///< inspection was sent
  bool news = false;                      ///< the resource changed during an inspection
  unsigned undecided = 0;                 ///< consecutive inspections without a quorum that agrees
  Instant inspected_at = Instant::min();  ///< when the last inspection began
  unsigned close_inspections = 0;         ///< consecutive inspections at short intervals

  void begin(std::string_view name) {
    observers.clear();
    resource.assign(name);
    inspecting = ClaimId();
    changed = NodeSet();
    news = false;
    undecided = close_inspections = 0;
    inspected_at = Instant::min();
  }
  [[nodiscard]] Duration poll_interval() const noexcept {
    Duration shortest = Duration::max();
    for (const Observer& each : observers) shortest = std::min(shortest, each.poll_interval);
    return shortest;
  }
  /// Minimum pause before the next inspection: a resource that changes all the time is inspected
  /// less often, to spare the nodes. The first changes are inspected at once.
  [[nodiscard]] Duration least_pause() const noexcept;
  /// Earliest start of the next inspection that no caller requests.
  [[nodiscard]] Instant soonest() const noexcept;
  /// An inspection begins.
  void note_inspection(Instant now) noexcept;
};

}  // namespace redlock::core
