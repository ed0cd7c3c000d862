#pragma once

#include "core/claim/claim.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/waiting/tracked_keys.hpp"

namespace redlock::core {

/// Owns the keys whose changes somebody wants to know of: resources, for observers and for callers
/// that wait for a lock of another library; queues, for holders that want to know whether others
/// wait. A node does not notify a client of the client's own writes, and stops tracking the key
/// after them. Therefore this class notes the client's own requests, and has the nodes track those
/// keys again at the end of the step. Callers register keys with resources() and queues().
class Tracking {
 public:
  Tracking(const Nodes& nodes, Outbox& outbox)
      : resources_(Tracked::resource, nodes, outbox), queues_(Tracked::queue, nodes, outbox) {}

  [[nodiscard]] TrackedKeys& resources() noexcept { return resources_; }
  [[nodiscard]] TrackedKeys& queues() noexcept { return queues_; }

  void begin_step() {
    resources_.begin_step();
    queues_.begin_step();
  }
  void end_step() {
    resources_.end_step();
    queues_.end_step();
  }
  void came_up(NodeIndex node) {
    resources_.came_up(node);
    queues_.came_up(node);
  }
  void dropped(NodeIndex node) {
    resources_.dropped(node);
    queues_.dropped(node);
  }

  /// A request left for these nodes, which may change the keys without a notification.
  void sent(const Claim& claim, Verb verb, NodeSet nodes);
  /// The node has granted the key to us.
  void granted(const Claim& claim, NodeIndex node) {
    if (!resources_.empty()) written(claim, node);
  }
  /// An inspection was answered, and may show a change of which no notification came.
  void inspected(const Claim& claim, const Answer& answer);

 private:
  void written(const Claim& claim, NodeIndex node);

  TrackedKeys resources_;
  TrackedKeys queues_;
};

}  // namespace redlock::core
