#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/messages.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// Callers that want to know of every change of one resource: an inspection now, and one after each
/// change, for all of them. Nodes notify the client of changes (TrackedKeys); where too few do, it
/// polls.
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
  NodeSet changed;                        ///< nodes where it changed since that was sent
  bool news = false;                      ///< it changed while an inspection was under way
  unsigned unsettled = 0;                 ///< inspections in a row that found no quorum of one mind
  Instant inspected_at = Instant::min();  ///< when the last one began
  unsigned hurried = 0;                   ///< inspections in a row that followed each other closely

  void begin(std::string_view name) {
    observers.clear();
    resource.assign(name);
    inspecting = ClaimId();
    changed = NodeSet();
    news = false;
    unsettled = hurried = 0;
    inspected_at = Instant::min();
  }
  [[nodiscard]] Duration poll_interval() const noexcept {
    Duration shortest = Duration::max();
    for (const Observer& each : observers) shortest = std::min(shortest, each.poll_interval);
    return shortest;
  }
  /// A resource that changes all the time is not inspected all the time: that would take from those
  /// who lock it. The first changes are inspected at once.
  [[nodiscard]] Duration least_pause() const noexcept;
  /// When the next inspection may begin that no caller asks for.
  [[nodiscard]] Instant soonest() const noexcept;
  /// An inspection begins.
  void note_inspection(Instant now) noexcept;
};

}  // namespace redlock::core
