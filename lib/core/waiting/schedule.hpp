#pragma once

#include <chrono>
#include <cstdint>

#include "core/nodes/nodes.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisition.hpp"
#include "core/waiting/node_queues.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::core {

/// The longest sleep of a waiter that will be notified.
inline constexpr Duration longest_sleep = std::chrono::milliseconds(3200);

/// Decides when a waiting acquisition asks again, from its refusal, the client's queue positions
/// and the notifications. Sends nothing.
class Schedule {
 public:
  Schedule(const Settings& settings, const Instant& now, const Nodes& nodes,
           const Subscriptions& subscriptions, const NodeQueues& queues, TrackedKeys& tracked,
           WaitedKeys& keys, Randomness& random)
      : settings_(settings),
        now_(now),
        nodes_(nodes),
        subscriptions_(subscriptions),
        queues_(queues),
        tracked_(tracked),
        keys_(keys),
        random_(random) {}

  /// Sets Waiting::plan: it asks again at `at_latest` at the latest. Notifications that came since
  /// its last attempt began make it ask sooner.
  void plan(Acquisition& acquisition, Instant at_latest);

  /// Whether nodes notify us when the obstacle of the acquisition goes.
  [[nodiscard]] bool can_be_notified(const Acquisition& acquisition) const;
  /// Whether a quorum of nodes will notify the acquisition, so that it need not poll.
  [[nodiscard]] bool will_be_notified(const Acquisition& acquisition);
  /// Whether a quorum has notified the acquisition. Without a ticket, nodes that granted its last
  /// attempt count, too.
  [[nodiscard]] bool is_notified_by_quorum(const Acquisition& acquisition) const;
  /// How long a sleeping client waits until it asks another node whether the key is free.
  [[nodiscard]] Duration until_check();
  /// If a node says that it is the acquisition's turn, the acquisition tries again after the other
  /// nodes had the time to say so.
  void wait_in_turn(Acquisition& acquisition);

  enum class Waked : std::uint8_t {
    in_turn,    ///< by a notification that says whose turn it is
    by_change,  ///< by a key that has changed: another library's lock
  };
  /// A node notified the acquisition, and `before` other clients that come first. Returns false if
  /// its plan stays.
  bool wake(Acquisition& acquisition, std::uint32_t before, Waked how);
  /// The acquisition stops waiting. Returns true if another one of this client has to be the
  /// standby in its place.
  bool hand_on_watch(Acquisition& acquisition, WaitedKeys::Key& key);

 private:
  static constexpr By<Schedule> me{};

  /// How long the acquisition pauses after it was refused:
  /// - held: until the TTLs in the refusals let q nodes be free. In a queue, only the first client
  ///   and the standby wake for an expiry, and all wake for the end of an interval; the others are
  ///   notified. Without notifications, the acquisition polls, with a jittered backoff that begins
  ///   at the round trip and ends at 50 ms.
  /// - split, expired: a jittered backoff that begins at the round trip. Contenders only have to
  ///   miss each other by that, so the usual 50 to 250 ms would be too long.
  /// - unavailable, excluded: a bounded backoff, which ends early when a node comes back.
  [[nodiscard]] Duration pause(const Acquisition& acquisition, bool sleeps, bool notices_expiry);
  /// Whether another acquisition of this client already tries to get the same lock, and only one of
  /// them can. Two that tried at once would divide the nodes between them, and notify each other of
  /// that, again and again.
  [[nodiscard]] bool others_try(const Acquisition& acquisition);
  /// Makes the acquisition ask sooner if nodes have notified it, maybe during its last attempt.
  void handle_notifications(Acquisition& acquisition);
  /// Whether a node says that the client is first in its queue. An acquisition without a ticket
  /// counts as first.
  [[nodiscard]] bool is_first(const Acquisition& acquisition);
  /// Whether the acquisition is the first of this client's waiters for its key.
  [[nodiscard]] bool is_first_of_ours(const Acquisition& acquisition);
  /// Whether the acquisition asks often, because nodes do not notify us when they become free and
  /// other libraries' clients are quick to take them.
  [[nodiscard]] bool is_early(const Acquisition& acquisition);
  /// Whether a node says that it is the acquisition's turn.
  [[nodiscard]] static bool is_in_turn(const Acquisition& acquisition);
  /// Fewer than a quorum have notified the acquisition: it tries again after the other nodes had
  /// the time to.
  void wait_for_others(Acquisition& acquisition);
  /// If a node chose this client as the standby, the acquisition asks in case the successor does
  /// not come.
  void watch(Acquisition& acquisition, WaitedKeys::Key& key);
  /// The acquisition tries again at that instant, or before.
  static void retry_by(Acquisition& acquisition, Instant at);

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  const Subscriptions& subscriptions_;
  const NodeQueues& queues_;
  TrackedKeys& tracked_;
  WaitedKeys& keys_;
  Randomness& random_;
};

}  // namespace redlock::core
