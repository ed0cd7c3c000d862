#pragma once

#include "core/claim/claim.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// Notifies the holder of a lease, if it wants to know, whether others wait for the resource.
/// Somebody waits if one node says so, or if an acquisition of this client waits, because nodes do
/// not notify a client when they queue it. Nobody waits if a quorum of the nodes says so. A holder
/// is notified of changes only. In a claim, this class changes `watches_queue` and nothing else.
class QueueWatch {
 public:
  QueueWatch(const Settings& settings, TrackedKeys& queues, WaitQueue& wait_queue, Outbox& outbox)
      : settings_(settings), queues_(queues), wait_queue_(wait_queue), outbox_(outbox) {}

  /// The claim is held, and its holder wants to know whether others wait.
  void begin(Claim& claim);
  /// The lease ended.
  void end(Claim& claim);

  // --- events -----------------------------------------------------------------------------------
  void answered(const Answer& answer);
  void changed(const Changed& event);
  /// An acquisition of this client waits for the resource.
  void joined(const std::string& resource);
  /// A connection ended: the queues of that node are unknown.
  void node_dropped();

 private:
  static constexpr By<QueueWatch> me{};

  void report(TrackedKeys::Entry& entry);

  const Settings& settings_;
  TrackedKeys& queues_;
  WaitQueue& wait_queue_;
  Outbox& outbox_;
};

}  // namespace redlock::core
