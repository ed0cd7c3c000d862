#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/containers/pool.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/queue_position.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisition.hpp"
#include "core/waiting/node_queues.hpp"
#include "core/waiting/schedule.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Owns the waiting of refused acquisitions: what each of them waits for, and which of them a
/// notification wakes. A notification only says when to try again, so a lost one costs time and
/// nothing else. Does not know votes and tokens.
class WaitQueue {
 public:
  WaitQueue(const Settings& settings, const Nodes& nodes, Outbox& outbox,
            Pool<Acquisition>& acquisitions, TrackedKeys& tracked, TrackedKeys& tracked_queues,
            Randomness& random);
  // Not copied, because the parts of this object refer to its time.
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  /// A step begins: what was left in the last step is forgotten now, because that step's commands
  /// named the keys.
  void begin_step(Instant now) {
    now_ = now;
    keys_.begin_step();
  }

  /// A refused acquisition begins to wait or waits on: the client is queued on every node that can
  /// notify us. Returns false if it is in no queue, because no node would notify us when the
  /// resource becomes free.
  bool join(Acquisition& acquisition);
  enum class Left : std::uint8_t { granted, failed };
  /// The acquisition stops waiting. `taken_out`: nodes that granted or have not answered yet; a
  /// node that grants takes us out of its queue.
  void leave(Acquisition& acquisition, Left left, NodeSet taken_out = {});

  /// The acquisition asks again: notifications count from here on. A node that has notified it may
  /// have taken us out of its queue, and a request without a ticket does not queue us again.
  void try_again(Acquisition& acquisition);
  /// Whether the turn of an acquisition of several resources is over: what it kept is passed on,
  /// and it sleeps on.
  [[nodiscard]] bool gives_back(Acquisition& acquisition);
  /// An attempt begins. Returns whether it is made in this client's name, and with which queue
  /// position. If it is refused, the same request queues the client.
  [[nodiscard]] QueuePosition queue_position(Acquisition& acquisition);
  /// An attempt with a ticket left for these nodes.
  void asked(const Acquisition& acquisition, NodeSet nodes);
  /// A node refused an attempt with a ticket, or granted it, which took us out of the queue.
  /// `ours_yet`: the attempt is not over.
  void answered_attempt(const Acquisition& acquisition, const Answer& answer, bool ours_yet);
  /// A node answered an attempt with a ticket after the others had granted the lock, and may have
  /// queued us. `permits`: those of the semaphore if the queue is a semaphore's; otherwise 0.
  void queued_for_nothing(std::string_view queue, std::uint32_t permits, NodeIndex node);
  /// A lost attempt is released on these nodes. The release queues us again on those that took us
  /// out for the attempt.
  void restore_position(const Acquisition& acquisition, QueuePosition& position, NodeSet nodes);

  /// For how long a free resource is reserved for the first client in its queue.
  [[nodiscard]] Duration reserved_for() const noexcept { return queues_.reserved_for(); }
  void measure_reservation() { queues_.measure_reservation(); }

  /// Sets Waiting::plan: the acquisition asks again at `at_latest` at the latest.
  void plan(Acquisition& acquisition, Instant at_latest) { schedule_.plan(acquisition, at_latest); }

  /// The time of Plan::next_check has come: asks a node whether the key is free.
  void check(Acquisition& acquisition);
  /// Sets Plan::next_check anew.
  void plan_check(Acquisition& acquisition);

  /// Whether any acquisition of this client waits for the resource.
  [[nodiscard]] bool has_waiters(std::string_view resource);
  /// Whether clients waited for the resource lately.
  [[nodiscard]] bool is_contended(std::string_view resource);
  /// Other clients wait for the resource: the next acquisition queues after them at once.
  void note_contended(std::string_view resource);

  /// Keeps notifications arriving while somebody waits. See Subscriptions.
  void tend();
  [[nodiscard]] Instant next_tending() const { return subscriptions_.next_tending(queued_ > 0); }

  // --- events -----------------------------------------------------------------------------------
  void subscribed(NodeIndex node);
  void unsubscribed(NodeIndex node);
  /// The connection to the node ended.
  void dropped(NodeIndex node);
  void notified(const Notification& event);
  /// The node tracks the key of a lock whose release notifies nobody. The key may be gone already.
  void tracked(const std::string& key, NodeIndex node, bool is_gone);
  void changed(const std::string& key, NodeIndex node);
  /// A node answered a request to join or to leave a queue.
  void answered(NodeIndex node, const Stamp& stamp, const Answer& answer);

  /// An acquisition whose next attempt has to be planned anew, not later than `at_latest`.
  struct Woken {
    std::uint32_t acquisition = 0;
    Instant at_latest = Instant::max();
    bool at_once = false;  ///< a node notified it: it need not wait for the next step
    /// It checks the key from now on, and its next attempt stays as it is.
    bool checks_only = false;
  };
  /// The acquisitions woken since the caller last emptied the list, in the order of service.
  [[nodiscard]] std::vector<Woken>& woken() noexcept { return woken_; }

  /// See Subscriptions::client_id().
  [[nodiscard]] const Token& client_id() const noexcept { return subscriptions_.client_id(); }
  /// Keys and waiters that were visited one by one.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_ + keys_.visited(); }

 private:
  static constexpr By<WaitQueue> me{};

  using Visited = WaitedKeys::Visited;
  using Waked = Schedule::Waked;

  // wait_queue.cpp
  void begin_to_wait(Acquisition& acquisition, WaitedKeys::Key& key);
  /// Adds the acquisition to the counts of the key's waiters, or takes it from them.
  static void count_queued(WaitedKeys::Key& key, const Acquisition& acquisition, int change);
  /// Another one of several resources is in the way from now on. The acquisition keeps the one that
  /// it waited for until now, as well as those that it kept before, while its turn lasts.
  void wait_for_another(Acquisition& acquisition, std::uint64_t blocking);
  /// Leaves what the acquisition may not keep while it waits for `blocking`, and stores its tickets
  /// for its return.
  void leave_unkept(Acquisition& acquisition, std::uint64_t blocking);
  /// The acquisition keeps the resource that it waits for, and waits for none.
  void keep(Acquisition& acquisition);
  /// The acquisition waits for a resource that it kept.
  void wait_for_kept(Acquisition& acquisition, std::uint64_t which);
  void leave_kept(Acquisition& acquisition, std::uint64_t which, Left left);
  /// Leaves the queue in which the acquisition waits, and none in which it keeps its position.
  void leave_key(Acquisition& acquisition, Left left, NodeSet taken_out);
  /// One waiter of this client has left, and others wait on.
  void stay_for_others(WaitedKeys::Entry& entry, Acquisition& acquisition, Left left);
  void stop_tracking(Acquisition& acquisition);
  void note_notified(WaitedKeys::Key& key, NodeIndex node, Waked how = Waked::in_turn);
  /// A waiter for a permit gives up: another one of ours must not sleep through the notifications
  /// that `gone` got.
  void note_missed(WaitedKeys::Key& key, const Acquisition& gone);
  void wake(const WaitedKeys::Key& key, std::uint32_t before, bool at_once,
            Waked how = Waked::in_turn);
  /// A waiter of the key has left: the first of the others checks the key from now on.
  void hand_on_checks(const WaitedKeys::Key& key);
  /// Wakes the first waiter that is not making an attempt.
  void wake_next(const WaitedKeys::Key& key, Instant at_latest, bool at_once);

  // wait_queue_attempts.cpp
  /// For how long an acquisition of several resources keeps what is passed on to it.
  [[nodiscard]] Duration length_of_turn(const Acquisition& acquisition) const;
  /// Which of several resources stay reserved after a lost attempt: see QueuePosition::kept.
  [[nodiscard]] std::uint64_t kept_after(const Acquisition& acquisition) const;
  /// Whether the acquisition keeps `which` of several resources while it waits for `blocking`.
  [[nodiscard]] bool may_keep(const Acquisition& acquisition, std::uint64_t which,
                              std::uint64_t blocking) const;
  /// Whether the acquisition waits for one key that only one holder can have.
  [[nodiscard]] static bool can_have_ticket(const Acquisition& acquisition);
  [[nodiscard]] bool is_contended(const WaitedKeys::Key& key) const;

  // wait_queue_events.cpp
  void changed(WaitedKeys::Entry& entry, NodeIndex node, Waked how);
  /// A node chose this client as the standby. Returns false if that means nothing: the client has
  /// just asked, and the nodes that then reserved the key for somebody are too few, because the
  /// others have a holder.
  bool note_standby(WaitedKeys::Key& key, NodeIndex node);
  /// A node has passed the key on to this client. A node that only says that the key changed, or is
  /// free, reserves nothing.
  void note_turn(const WaitedKeys::Key& key);
  /// A node has another client before this one in the queue of the key.
  void note_behind(const WaitedKeys::Key& key);
  /// A permit was reserved for us.
  void notified_of_permit(const Notification& event);
  /// Which waiters are planned anew.
  enum class Planning : std::uint8_t {
    awake,  ///< the waiters that may sleep now
    first,  ///< the waiters that may sleep, and the first one, which wakes when the key expires
    all,    ///< all waiters: nodes notified them
  };
  void plan_waiters(WaitedKeys::Key& key, Planning who);
  /// A quorum finds that nobody has the key, for example because the client that it was reserved
  /// for hangs: the first of our waiters asks, unless it is asking.
  void found_free(WaitedKeys::Key& key);
  /// The node no longer notifies us.
  void lost(NodeIndex node);

  const Settings& settings_;
  const Nodes& nodes_;
  TrackedKeys& tracked_;
  Instant now_ = Instant::min();
  WaitedKeys keys_;
  Subscriptions subscriptions_;
  NodeQueues queues_;
  Schedule schedule_;
  std::vector<std::uint32_t> affected_;  ///< waiters that lost() looks at
  std::uint64_t arrivals_ = 0;           ///< acquisitions that ever waited
  std::size_t queued_ = 0;               ///< acquisitions that wait now
  std::size_t kept_ = 0;                 ///< resources that acquisitions of several keep
  std::uint64_t visited_ = 0;            ///< keys that were visited one by one
  std::vector<Woken> woken_;
};

}  // namespace redlock::core
