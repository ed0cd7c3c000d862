#pragma once

#include "core/claim/claim.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/wait_queue.hpp"

namespace redlock::core {

/// The queue behind a lease: tells a holder that wants to know whether other clients wait.
class QueueWatch {
 public:
  QueueWatch(const Settings& settings, TrackedKeys& queues, WaitQueue& wait_queue, Outbox& outbox)
      : settings_(settings), queues_(queues), wait_queue_(wait_queue), outbox_(outbox) {}

  /// The claim is held, and its holder wants to know.
  void begin(Claim& claim);
  /// The lease ended.
  void end(Claim& claim);

  // --- events -----------------------------------------------------------------------------------
  void answered(const Answer& answer);
  void changed(const Changed& event);
  /// Another acquisition of this client waits for it.
  void joined(const std::string& resource);
  /// Some node's queues are not known any more.
  void node_dropped();

 private:
  void report(TrackedKeys::Entry& entry);

  const Settings& settings_;
  TrackedKeys& queues_;
  WaitQueue& wait_queue_;
  Outbox& outbox_;
};

}  // namespace redlock::core
