#pragma once

#include <cstdint>

#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::core {

/// Keeps the client's position in the nodes' queues: asks nodes to queue the client and to take it
/// out, and notes their answers. A client is queued once for all of its waiters. Does not know who
/// waits.
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

  enum class Where : std::uint8_t { at_its_ticket, at_the_back };
  /// Asks nodes to queue the client: `at_its_ticket` with its ticket, `at_the_back` with a new one.
  void join(Entry& entry, NodeSet nodes, Where where = Where::at_its_ticket);
  /// Joins again if the client is not queued, is queued in the wrong mode, or would soon be
  /// forgotten by the nodes.
  void renew(Entry& entry, NodeSet nodes);
  /// How the client leaves a queue, numbered as in leave.lua.
  enum class Leave : std::uint8_t {
    quietly = 0,     ///< passes on what is reserved for the client
    notifying = 1,   ///< passes it on, and notifies others, who can be let in, too
    unreserved = 2,  ///< passes it on, and new holds are no longer refused
  };
  void leave(Entry& entry, Leave how);
  /// Leaves the queue of one node only.
  void leave_quietly(const Entry& entry, NodeIndex node);
  /// Has the node pass on what it has reserved for the client and none of the client's waiters
  /// wants. Does nothing if the notification was outdated.
  void give_back(Entry& entry, NodeIndex node);
  /// Notes the queue position that the node's answer reports.
  void note_position(Entry& entry, const Answer& answer);
  /// Asks one node whether the key is free, each time another one that has queued the client.
  void check(Entry& entry);
  /// A node answered that question. If it is the first that finds the key free, asks the others.
  /// Returns whether a quorum finds the key free.
  bool note_check(Entry& entry, NodeIndex node, bool is_free);
  /// Raises the client's tickets to its highest one, so that all nodes have the contenders in one
  /// order.
  void raise_tickets(Entry& entry);
  /// Sends a request again, with the script in full: the node's scripts were flushed.
  void send_in_full(Entry& entry, NodeIndex node, const Stamp& stamp);

  /// Whether a quorum runs the scripts that queue the client, and notifies it.
  [[nodiscard]] bool can_queue() const;
  /// Whether the client is queued in another mode than its waiters need now.
  [[nodiscard]] static bool is_out_of_position(const Key& key) {
    return position_of(key) != key.position;
  }
  /// For how long a free resource is reserved for the first client in its queue.
  [[nodiscard]] Duration reserved_for() const noexcept { return reserved_for_; }
  /// Adapts reserved_for() to the round trip.
  void measure_reservation();

 private:
  using Position = WaitedKeys::Position;
  /// A Position or a Leave; kept in the stamp of the request.
  using Mode = std::uint8_t;
  [[nodiscard]] static Position position_of(const Key& key);
  /// Nodes that can be asked whether the key is free, and have not found it free.
  [[nodiscard]] NodeSet able_to_check(const Entry& entry) const;
  void check(Entry& entry, NodeSet nodes);
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
