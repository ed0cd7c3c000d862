#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/containers/pool.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisition.hpp"
#include "core/waiting/waiters.hpp"

namespace redlock::core {

/// How long a node remembers that a client waits.
inline constexpr Duration queued_for = std::chrono::seconds(30);

/// How much longer than usual a node reserves a resource that another library would take: until the
/// first client in the queue asks again.
inline constexpr Duration kept_for = std::chrono::milliseconds(100);

/// Owns the keys that are waited for: which acquisitions wait for each of them, and on which nodes
/// this client is queued for it. Does not know what the keys and queues are for.
class WaitedKeys {
 public:
  /// The mode in which a client is queued, numbered as in queue.lua.
  enum class Position : std::uint8_t {
    once = 0,
    at_the_back = 1,
    of_several = 2,
    of_several_at_the_back = 3,
    shared = 4,
    shared_at_the_back = 5,
    any_permit = 6
  };

  struct Key {
    std::uint32_t id = 0;  ///< names the key in the stamps of requests about it

    // --- this client's waiters ---
    Waiters waiters;
    std::uint32_t alone = 0;           ///< waiters that are not readers
    std::uint32_t need_more = 0;       ///< waiters that need other resources, too
    std::uint32_t kept = 0;            ///< acquisitions that keep the key and wait for another one
    std::uint32_t permits = 0;         ///< permits of the semaphore; 0: the queue is of a resource
    std::uint32_t granted_permit = 0;  ///< the last permit of the semaphore that we were granted
    bool has_awake = false;            ///< some waiters may sleep as soon as nodes notify them
    Instant planned_at = Instant::min();    ///< when the sleep of all waiters was last planned
    Instant contended_at = Instant::min();  ///< when somebody was last queued or notified

    // --- the client's position in the nodes' queues ---
    NodeSet asked;  ///< nodes that were asked to queue the client, and may have it in their queue
    Instant asked_at = Instant::min();   ///< when the first node of `asked` was asked
    Position position = Position::once;  ///< the mode in which nodes were asked to queue the client
    NodeSet queued;                      ///< nodes that have queued the client: they notify it
    std::int64_t ticket = 0;  ///< the highest ticket that a node gave the client; 0: none
    NodeSet at_ticket;        ///< nodes on which the client has `ticket`
    NodeSet first;            ///< nodes in whose queue the client is first
    std::optional<std::uint32_t> last_attempt{};  ///< the acquisition that last asked with a ticket
    NodeSet taking;         ///< nodes that `last_attempt` asked and that have not refused it
    NodeSet late;           ///< nodes whose outdated notification may be on its way
    NodeIndex checked = 0;  ///< the node that was last asked whether the key is free
    NodeSet checking;       ///< nodes that have not answered that
    NodeSet free;           ///< nodes that have found it free since the last attempt
    Instant watch_until = Instant::min();  ///< Waiting::watch_until of the next waiter
    NodeSet watched_on;  ///< nodes that have chosen the client as the standby since it asked

    /// The client has left all queues of the key.
    void forget_position() noexcept {
      asked = queued = at_ticket = first = free = NodeSet();
      ticket = 0;
    }
    /// The node no longer notifies the client, as far as is known.
    void forget(NodeIndex node) noexcept {
      for (NodeSet* const nodes :
           {&asked, &queued, &at_ticket, &first, &taking, &late, &checking, &free})
        nodes->remove(node);
    }
  };
  /// Ordered by key, so that a seed reproduces a run.
  using Keys = std::map<std::string, Key, std::less<>>;
  using Entry = Keys::value_type;

  explicit WaitedKeys(Pool<Acquisition>& acquisitions) : acquisitions_(acquisitions) {}

  /// A step begins: what was left in the last step is forgotten now, because that step's commands
  /// named the keys.
  void begin_step() {
    if (!left_.empty()) forget_left();
  }

  /// The entry of the key, which is made if there is none. Its address does not change until it is
  /// forgotten.
  Entry& note(std::string_view key);
  [[nodiscard]] Entry* find(std::string_view key);
  [[nodiscard]] Entry* find(std::uint32_t id);
  /// The entry of the key that the acquisition waits for: that of a semaphore, or of the resource
  /// in its way.
  Entry& note_for(const Acquisition& acquisition);
  [[nodiscard]] Entry* find_for(const Acquisition& acquisition);
  [[nodiscard]] Keys& all() noexcept { return keys_; }

  /// Nobody waits for the key now. It is forgotten at the next step unless somebody waits by then.
  /// A few keys stay, because some are locked often.
  void forget_later(const Key& key) { left_.push_back(key.id); }

  enum class Visited : std::uint8_t { more, enough };
  /// Visits the acquisitions that wait for the key and do not keep it for a later resource, in the
  /// order in which they came.
  template <typename Visit>
  void each_waiter(const Key& key, Visit&& visit) {
    key.waiters.each_while([&](std::uint32_t index) {
      ++visited_;
      Acquisition& acquisition = acquisitions_.at(index);
      const bool keeps_it =
          acquisition.terms->kind() == Kind::several && &find_for(acquisition)->second != &key;
      const bool waits = acquisition.waiting->queued && !keeps_it;
      return !waits || visit(acquisition) == Visited::more;
    });
  }
  [[nodiscard]] Acquisition& waiter(std::uint32_t index) { return acquisitions_.at(index); }
  /// Nodes on which an unfinished attempt of ours has been granted the key, or may be.
  [[nodiscard]] NodeSet being_taken(const Entry& entry) const;
  /// Waiters that were visited one by one.
  [[nodiscard]] std::uint64_t visited() const noexcept { return visited_; }

 private:
  void forget_left();
  void forget(std::uint32_t id);

  Pool<Acquisition>& acquisitions_;
  Keys keys_;
  std::unordered_map<std::uint32_t, Entry*> by_id_;
  std::uint32_t last_id_ = 0;
  std::vector<std::uint32_t> left_;
  std::uint64_t visited_ = 0;
};

}  // namespace redlock::core
