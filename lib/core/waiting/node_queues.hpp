#pragma once

#include <cstdint>

#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::core {

/// The client's places in the queues of the nodes: asks nodes to queue it and to take it out, and
/// notes what they answer. A client is queued once for all of its waiters.
class NodeQueues {
 public:
  using Entry = WaitedKeys::Entry;
  using Key = WaitedKeys::Key;

  NodeQueues(const Settings& settings, const Instant& now, const Nodes& nodes,
             const Subscriptions& subscriptions, const WaitedKeys& keys, TrackedKeys& tracked,
             TrackedKeys& tracked_queues, Outbox& outbox)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        subscriptions_(subscriptions),
        keys_(keys),
        tracked_(tracked),
        tracked_queues_(tracked_queues),
        outbox_(outbox) {}

  enum class Where : std::uint8_t { in_its_place, at_the_back };
  void join(Entry& entry, NodeSet nodes, Where where = Where::in_its_place);
  /// Joins again if the client is not queued, is queued in the wrong mode, or is about to be
  /// forgotten.
  void renew(Entry& entry, NodeSet nodes);
  /// As leave.lua numbers it.
  enum class Leave : std::uint8_t {
    quietly = 0,     ///< what is reserved for the client is passed on
    notifying = 1,   ///< and others are notified, because they may be let in beside it
    unreserved = 2,  ///< and new holds are not refused any more
  };
  void leave(Entry& entry, Leave how);
  /// Only this node's queue.
  void leave_quietly(const Entry& entry, NodeIndex node);
  /// What the node has reserved for the client, and none of its waiters wants, is passed on.
  void give_back(Entry& entry, NodeIndex node);
  /// The node's answer says where in its queue the client is.
  void note_place(Entry& entry, const Answer& answer);
  /// Has the tickets of all contenders be in one order on all nodes.
  void raise_tickets(Entry& entry);
  /// The node does not know the script any more: its scripts were flushed.
  void send_in_full(Entry& entry, NodeIndex node, const Stamp& stamp);

  /// Whether a quorum runs the scripts that queue the client, and notifies it.
  [[nodiscard]] bool can_queue() const;
  /// Whether the client is queued in another way than its waiters want now.
  [[nodiscard]] static bool is_out_of_place(const Key& key) {
    return position_of(key) != key.position;
  }
  /// For how long a free resource is reserved for the first client in its queue.
  [[nodiscard]] Duration reserved_for() const noexcept { return reserved_for_; }
  void measure_reservation();

 private:
  using Position = WaitedKeys::Position;
  /// A Position or a Leave; kept in the stamp of the request.
  using Mode = std::uint8_t;
  [[nodiscard]] static Position position_of(const Key& key);
  void send(const Entry& entry, Verb verb, NodeSet nodes, Mode mode,
            ScriptForm form = ScriptForm::digest);

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  const Subscriptions& subscriptions_;
  const WaitedKeys& keys_;
  TrackedKeys& tracked_;
  TrackedKeys& tracked_queues_;
  Outbox& outbox_;
  Duration reserved_for_ = shortest_reservation;
};

}  // namespace redlock::core
