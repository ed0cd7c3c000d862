#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/claim/claim.hpp"
#include "core/claim/claims.hpp"
#include "core/containers/pool.hpp"
#include "core/containers/timer_heap.hpp"
#include "core/duties/observation.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "redlock/error.hpp"

namespace redlock::core {

/// Owns the observations: which callers observe a resource, and when it is inspected next. If a
/// function returns an observation, the engine inspects the resource now.
class Observers {
 public:
  Observers(const Settings& settings, const Instant& now, const Nodes& nodes, Claims& claims,
            TrackedKeys& resources, TimerHeap& timers, Outbox& outbox)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        claims_(claims),
        resources_(resources),
        timers_(timers),
        outbox_(outbox) {}

  [[nodiscard]] Observation* add(const Observe& event);
  /// The caller stops observing.
  void stop(CallId request);
  void stop_all(Errc why);

  /// An inspection begins for all observers of the resource, with a new claim for the first of
  /// them.
  void begin(Observation& observation, Claim& claim);
  /// The inspection has ended. The claim has its outcome.
  void inspected(const Claim& claim);

  // --- events -----------------------------------------------------------------------------------
  /// An observed key has changed on `node`; none: we changed it ourselves.
  [[nodiscard]] Observation* changed(const TrackedKeys::Entry& entry,
                                     std::optional<NodeIndex> node);
  /// This client itself has changed the claim's resource. Nodes do not notify it of that.
  [[nodiscard]] Observation* changed_by_us(const Claim& claim);
  /// The timer of the observation is due.
  [[nodiscard]] Observation* due(std::uint32_t index);

 private:
  static constexpr By<Observers> me{};

  void plan(Observation& observation, Instant at);
  /// Returns false if the call is not one of the observers.
  bool forget(Observation& observation, CallId request);
  void fail(CallId request, Errc why);

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  Claims& claims_;
  TrackedKeys& resources_;
  TimerHeap& timers_;
  Outbox& outbox_;
  Pool<Observation> observations_;
};

}  // namespace redlock::core
