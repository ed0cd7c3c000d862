#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/claim/acquisition.hpp"
#include "core/claim/claim.hpp"
#include "core/containers/pool.hpp"
#include "core/engine/messages.hpp"
#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/randomness.hpp"
#include "core/time.hpp"
#include "core/waiting/retry.hpp"
#include "core/waiting/subscriptions.hpp"
#include "core/waiting/tracked_keys.hpp"
#include "core/waiting/waited_keys.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Which acquisitions wait for which key, on which nodes this client is queued for it, and whom a
/// notification is for. A notification says when to try again; it counts for nothing else, so a
/// lost one costs time only. Knows nothing of votes and tokens.
class WaitQueue {
 public:
  WaitQueue(const Settings& settings, const Nodes& nodes, Outbox& outbox,
            Pool<Acquisition>& acquisitions, TrackedKeys& tracked, TrackedKeys& tracked_queues,
            Randomness& random);
  // The subscriptions read its time.
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  /// A step begins. What was left in the last one is forgotten: its commands named the keys.
  void begin_step(Instant now) {
    now_ = now;
    if (!left_.empty()) forget_left();
  }

  /// An acquisition that was refused waits: it is queued on every node that can notify us. False:
  /// in no queue, because nothing would be notified of what is in its way.
  bool join(Acquisition& acquisition);
  enum class Left : std::uint8_t { granted, failed };
  /// `taken_out`: nodes whose grant took us out of the queue, or will have when they answer.
  void leave(Acquisition& acquisition, Left left, NodeSet taken_out = {});

  /// Notifications count from here on. A node that notified it may have taken us out of its queue,
  /// where a request does not queue us again.
  void try_again(Acquisition& acquisition);
  /// An attempt begins: whether it is made in this client's name, and with which place in the
  /// queue. One that is refused is queued by the same request.
  [[nodiscard]] QueuePlace queue_place(Acquisition& acquisition);
  /// Such an attempt left for these nodes, or its release that queues us again.
  void asked(const Acquisition& acquisition, NodeSet nodes);
  /// It was answered: refused, or granted, which took us out of the queue.
  void answered_attempt(const Acquisition& acquisition, const Answer& answer, bool ours_yet);
  /// By a node that answered when the others had granted it: it may have queued us. `permits` of
  /// the semaphore that it is the queue of.
  void queued_for_nothing(std::string_view queue, std::uint32_t permits, NodeIndex node);
  /// A lost attempt is released. It queues us again wherever it took us out.
  void place_again(const Acquisition& acquisition, QueuePlace& place, NodeSet nodes);

  /// For how long a free resource is reserved for who is next.
  [[nodiscard]] Duration reserved_for() const noexcept { return reserved_for_; }
  void measure_reservation();

  /// When it asks again: as what nodes have told it since its last attempt suggests, and not later
  /// than `at_latest`.
  Plan plan(Acquisition& acquisition, Instant at_latest);

  /// Whether any acquisition of this client waits for it.
  [[nodiscard]] bool has_waiters(std::string_view resource);
  /// Whether clients waited for it lately.
  [[nodiscard]] bool is_contended(std::string_view resource);
  /// Other clients wait for it: the next acquisition queues behind them at once.
  void note_contended(std::string_view resource);

  /// Where a node has said nothing for long while somebody waits, it is asked whether notifications
  /// still arrive. Where it does not answer they do not.
  void tend();
  [[nodiscard]] Instant next_tending() const { return subscriptions_.next_tending(queued_ > 0); }

  // --- events -----------------------------------------------------------------------------------
  void subscribed(NodeIndex node);
  void unsubscribed(NodeIndex node);
  /// The connection to the node ended.
  void dropped(NodeIndex node);
  void notified(const Notification& event);
  /// The node tracks the key of a lock that does not notify; the key may be gone already.
  void tracked(const std::string& key, NodeIndex node, bool is_gone);
  void changed(const std::string& key, NodeIndex node);
  /// To a request to join or to leave a queue.
  void answered(NodeIndex node, const Stamp& stamp, const Answer& answer);

  /// An acquisition whose next attempt has to be planned anew, not later than `at_latest`.
  struct Woken {
    std::uint32_t acquisition = 0;
    Instant at_latest = Instant::max();
    bool at_once = false;  ///< a node notified it: it need not wait for the next step
  };
  /// Since it was last asked, in the order in which they are to be served.
  [[nodiscard]] std::vector<Woken>& woken() noexcept { return woken_; }

  /// See Subscriptions::client_id().
  [[nodiscard]] const Token& client_id() const noexcept { return subscriptions_.client_id(); }
  /// Keys and waiters that were visited one by one.
  [[nodiscard]] std::uint64_t walked() const noexcept { return walked_; }

 private:
  using Position = WaitedKeys::Position;
  /// As leave.lua numbers them.
  enum class Leave : std::uint8_t { quietly = 0, notifying = 1, unreserved = 2 };
  enum class Visited : std::uint8_t { more, enough };

  void forget_left();
  /// Of a client that is queued once for all of its waiters.
  [[nodiscard]] static Position position_of(const WaitedKeys::Key& key);
  [[nodiscard]] static Position at_the_back(Position position);
  void join(WaitedKeys::Entry& entry, NodeSet nodes, Position where);
  /// One of ours has left, and others of this client wait on.
  void stay_for_others(WaitedKeys::Entry& entry, Acquisition& acquisition, Left left);
  void leave(WaitedKeys::Entry& entry, Leave how);
  /// Of several resources, only the one that it waits for.
  void leave_key(Acquisition& acquisition, Left left, NodeSet taken_out);
  void stop_tracking(Acquisition& acquisition);
  /// What was kept for it is in its way again.
  void wait_for_kept(Acquisition& acquisition, std::uint64_t which);
  void leave_kept(Acquisition& acquisition, std::uint64_t which, Left left);
  /// A Position or a Leave; kept in the stamp of the request, with whether it was sent in full.
  using Mode = std::uint16_t;
  static constexpr Mode in_full = 0x100;
  void send(const WaitedKeys::Entry& entry, Verb verb, NodeSet nodes, Mode mode,
            ScriptForm form = ScriptForm::digest);
  /// The node's scripts were flushed since it was connected to.
  void send_in_full(NodeIndex node, const Stamp& stamp);
  template <typename Visit>
  void each_waiter(const WaitedKeys::Key& key, Visit&& visit) {
    key.waiters.each_while([&](std::uint32_t index) {
      ++walked_;
      Acquisition& acquisition = acquisitions_.at(index);
      return !acquisition.waiting.queued || visit(acquisition) == Visited::more;
    });
  }
  /// Where an attempt of ours that is not over has granted it, or may.
  [[nodiscard]] NodeSet being_taken(const WaitedKeys::Entry& entry) const;
  /// By a notification that says whose turn it is, or by a key that has changed.
  enum class Waked : std::uint8_t { in_turn, by_change };
  void note_notified(WaitedKeys::Key& key, NodeIndex node, Waked how = Waked::in_turn);
  /// Who waited for a permit gives up: another one of ours does not sleep through what that was
  /// notified of.
  void note_missed(WaitedKeys::Key& key, const Acquisition& gone);
  void changed(WaitedKeys::Entry& entry, NodeIndex node, Waked how);
  void note_place(WaitedKeys::Entry& entry, const Answer& answer);
  /// So that the tickets of all contenders are in one order on all nodes.
  void raise_tickets(WaitedKeys::Entry& entry);
  /// It waits for one key, and alone can have it.
  [[nodiscard]] static bool can_have_ticket(const Acquisition& acquisition);
  /// Whether a quorum lets us run the scripts that queue us, and notifies us.
  [[nodiscard]] bool can_queue() const;
  [[nodiscard]] bool is_notified_by_quorum(const Acquisition& acquisition) const;
  /// Whether nodes notify us of the end of what is in its way.
  [[nodiscard]] bool can_be_notified(const Acquisition& acquisition) const;
  /// Whether a quorum of nodes will notify it: then it need not ask again and again.
  [[nodiscard]] bool will_be_notified(const Acquisition& acquisition);
  /// Whether another acquisition of this client already tries to get what it waits for, and only
  /// one can. Two that try at once would divide the nodes between them, and notify each other of
  /// it, again and again.
  [[nodiscard]] bool others_try(const Acquisition& acquisition);
  /// Nodes have notified it, maybe during its last attempt: when it tries again.
  void heed_notifications(Acquisition& acquisition);
  /// Whether a node says that it is next.
  [[nodiscard]] bool is_first(const Acquisition& acquisition);
  /// Nodes do not say when they become free, and other libraries' clients are quick to take them.
  [[nodiscard]] bool is_eager(const Acquisition& acquisition);
  /// Whether a node says that it is its turn.
  [[nodiscard]] static bool is_in_turn(const Acquisition& acquisition);
  /// Of a permit: whether it is the first of ours, and we are the first of a node.
  [[nodiscard]] bool is_first_for_permit(const Acquisition& acquisition);
  /// Of what it waits for: a semaphore, or the resource that is in its way. Null: nobody of ours
  /// waits for that.
  [[nodiscard]] WaitedKeys::Entry* find_queue(const Acquisition& acquisition);
  [[nodiscard]] WaitedKeys::Entry& make_queue(const Acquisition& acquisition);
  void begin_to_wait(Acquisition& acquisition, WaitedKeys::Key& key);
  /// A permit was reserved for us.
  void notified_of_permit(const Notification& event);
  /// Another one of ours asks, and is queued where it is refused.
  void let_next_ask(WaitedKeys::Entry& entry);
  [[nodiscard]] bool is_contended(const WaitedKeys::Key& key) const;
  /// What is reserved for us, and nobody of us waits for, is passed on.
  void give_back(WaitedKeys::Entry& entry, NodeIndex node);
  void wake(const WaitedKeys::Key& key, std::uint32_t before, bool at_once,
            Waked how = Waked::in_turn);
  /// Fewer than a quorum have notified it: it tries again when the others had the time to.
  void wait_for_others(Acquisition& acquisition);
  /// It sees to it that what is reserved for another client is not left to nobody, if a node told
  /// this client to.
  void watch(Acquisition& acquisition, WaitedKeys::Key& key);
  /// Another one of ours has to, or the next that waits.
  void watch_no_more(Acquisition& acquisition, WaitedKeys::Key& key);
  /// Whose next attempt is planned anew.
  enum class Planned : std::uint8_t {
    awake,  ///< those that may sleep now
    first,  ///< and the first of all: it wakes when the key expires
    all,    ///< nodes notified them
  };
  void plan_anew(WaitedKeys::Key& key, Planned who);
  /// The node does not notify us any more.
  void lost(NodeIndex node);
  /// It is counted where its keys' waiters are, or not any more.
  void count_queued(WaitedKeys::Key& key, const Acquisition& acquisition, int change);
  /// Another of several resources is in its way from now on. If that comes after the one that was,
  /// it keeps what it has; else it comes back to what it leaves.
  void wait_for_another(Acquisition& acquisition, std::uint64_t blocking);

  const Settings& settings_;
  const Nodes& nodes_;
  Outbox& outbox_;
  Pool<Acquisition>& acquisitions_;
  TrackedKeys& tracked_;
  TrackedKeys& tracked_queues_;
  Randomness& random_;
  Instant now_ = Instant::min();
  Subscriptions subscriptions_;
  WaitedKeys keys_;
  std::vector<std::uint32_t> left_;  ///< keys to be forgotten at the next step: commands name them
  std::vector<std::uint32_t> affected_;  ///< waiters that lost() looks at
  std::uint64_t arrivals_ = 0;
  std::size_t queued_ = 0;  ///< acquisitions
  std::uint64_t walked_ = 0;
  std::vector<Woken> woken_;
  Duration reserved_for_ = shortest_reservation;
};

}  // namespace redlock::core
