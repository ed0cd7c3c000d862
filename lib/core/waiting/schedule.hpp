#pragma once

#include <chrono>
#include <cstdint>

#include "core/claim/acquisition.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/nodes.hpp"
#include "core/randomness.hpp"
#include "core/time.hpp"
#include "core/waiting/node_queues.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"

namespace redlock::core {

/// How long a waiter that will be notified sleeps at most.
inline constexpr Duration longest_sleep = std::chrono::milliseconds(3200);

/// When a waiting acquisition asks again: what a refusal, the client's places in the queues, and
/// notifications mean for that.
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

  /// Notifications that came since its last attempt began make it ask sooner.
  Plan plan(Acquisition& acquisition, Instant at_latest);

  /// Whether nodes notify us of the end of what is in its way.
  [[nodiscard]] bool can_be_notified(const Acquisition& acquisition) const;
  /// Whether a quorum of nodes will notify it: then it need not ask again and again.
  [[nodiscard]] bool will_be_notified(const Acquisition& acquisition);
  [[nodiscard]] bool is_notified_by_quorum(const Acquisition& acquisition) const;
  /// If a node says that it is its turn, it tries again when other nodes had the time to say so.
  void wait_in_turn(Acquisition& acquisition);

  enum class Waked : std::uint8_t {
    in_turn,    ///< by a notification that says whose turn it is
    by_change,  ///< by a key that has changed: another library's lock
  };
  /// A node notified it, and `before` other clients that come first. False: its plan stays.
  bool wake(Acquisition& acquisition, std::uint32_t before, Waked how);
  /// It waits no more. True: another one of ours has to watch in its place.
  bool hand_on_watch(Acquisition& acquisition, WaitedKeys::Key& key);

 private:
  /// The length of the pause. Held: until q nodes can be free by the refusals' TTLs; a client that
  /// will be notified and is not the first sleeps on. Without notifications it polls with a
  /// jittered backoff from the scale of the round trip up to 50 ms. Split, expired: jittered
  /// backoff on the same scale, not a fixed 50 to 250 ms: contenders that met once must only miss
  /// each other by a round trip. Unavailable, excluded: bounded backoff; a node that comes back
  /// ends it early. In a queue, the first client and the watcher notice an expiry, and all clients
  /// notice the end of an interval; otherwise they sleep.
  [[nodiscard]] Duration pause(const Acquisition& acquisition, bool sleeps, bool notices_expiry);
  /// Whether another acquisition of this client already tries to get what it waits for, and only
  /// one can. Two that try at once would divide the nodes between them, and notify each other of
  /// it, again and again.
  [[nodiscard]] bool others_try(const Acquisition& acquisition);
  /// Nodes have notified it, maybe during its last attempt.
  void heed_notifications(Acquisition& acquisition);
  /// Whether a node says that it is first in its queue, or it has no ticket.
  [[nodiscard]] bool is_first(const Acquisition& acquisition);
  /// Of one that waits for a permit: whether it is the first of ours, and we are first on a node.
  [[nodiscard]] bool is_first_for_permit(const Acquisition& acquisition);
  /// Whether it asks often: nodes do not say when they become free, and other libraries' clients
  /// are quick to take them.
  [[nodiscard]] bool is_eager(const Acquisition& acquisition);
  /// Whether a node says that it is its turn.
  [[nodiscard]] static bool is_in_turn(const Acquisition& acquisition);
  /// Fewer than a quorum have notified it: it tries again when the others had the time to.
  void wait_for_others(Acquisition& acquisition);
  /// If a node told this client to, it sees to it that what is reserved for another client is not
  /// left to nobody.
  void watch(Acquisition& acquisition, WaitedKeys::Key& key);
  /// It tries again at that instant, or before.
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
