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

#include "core/claim/acquisition.hpp"
#include "core/containers/pool.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"
#include "core/waiting/waiters.hpp"

namespace redlock::core {

/// How long a node remembers that a client waits.
inline constexpr Duration queued_for = std::chrono::seconds(30);

/// For how much longer than usual a node reserves a resource that another library would take: until
/// who is first asks again.
inline constexpr Duration kept_for = std::chrono::milliseconds(100);

/// Which acquisitions wait for which key, and on which nodes this client is queued for it.
class WaitedKeys {
 public:
  /// Where a client is queued, as queue.lua numbers it.
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

    // --- who of ours waits for it ---
    Waiters waiters;
    std::uint32_t alone = 0;      ///< how many of the waiters are no readers
    std::uint32_t need_more = 0;  ///< how many of the waiters need other resources too
    std::uint32_t kept = 0;       ///< how many keep it while they wait for another resource
    std::uint32_t permits = 0;    ///< of the semaphore whose queue it is; 0: it is a resource's
    std::uint32_t granted_permit = 0;     ///< the last permit of the semaphore that we were granted
    bool has_awake = false;               ///< some waiters may sleep as soon as nodes notify them
    Instant planned_at = Instant::min();  ///< when the sleep of all waiters was planned last
    Instant contended_at = Instant::min();  ///< when somebody was last queued for it, or notified

    // --- the client's place in the queues of the nodes ---
    NodeSet asked;  ///< nodes that were asked to queue the client, and may have it in their queue
    Instant asked_at = Instant::min();   ///< when the first of `asked` was
    Position position = Position::once;  ///< where nodes were asked to queue the client
    NodeSet queued;                      ///< nodes that have queued the client: they notify it
    std::int64_t ticket = 0;             ///< the highest that a node gave the client; 0: none
    NodeSet level;                       ///< nodes on which the client has that ticket
    NodeSet first;                       ///< nodes in whose queue the client is first
    std::optional<std::uint32_t> last_attempt{};  ///< the acquisition that last asked with a ticket
    NodeSet taking;   ///< nodes that were asked by that attempt, and have not refused it
    NodeSet settled;  ///< nodes whose notification of what is over may be on its way
    Instant watch_until = Instant::min();  ///< as Waiting::watch_until, for the next who waits

    /// The client is in no queue.
    void forget_place() noexcept {
      asked = queued = level = first = NodeSet();
      ticket = 0;
    }
    /// The node does not notify the client any more, or is not known to.
    void forget(NodeIndex node) noexcept {
      for (NodeSet* const nodes : {&asked, &queued, &level, &first, &taking, &settled})
        nodes->remove(node);
    }
  };
  /// In an order of its own, so that a seed reproduces.
  using Keys = std::map<std::string, Key, std::less<>>;
  using Entry = Keys::value_type;

  explicit WaitedKeys(Pool<Acquisition>& acquisitions) : acquisitions_(acquisitions) {}

  /// A step begins: what was left in the last one is forgotten, because its commands named the
  /// keys.
  void begin_step() {
    if (!left_.empty()) forget_left();
  }

  /// A new one if there is none. It stays where it is until it is forgotten.
  Entry& note(std::string_view key);
  [[nodiscard]] Entry* find(std::string_view key);
  [[nodiscard]] Entry* find(std::uint32_t id);
  /// Of what the acquisition waits for: a semaphore, or the resource that is in its way.
  Entry& note_for(const Acquisition& acquisition);
  [[nodiscard]] Entry* find_for(const Acquisition& acquisition);
  [[nodiscard]] Keys& all() noexcept { return keys_; }

  /// Nobody waits for it now. It is forgotten at the next step unless somebody does then. A few
  /// stay, for keys that are locked often.
  void forget_later(const Key& key) { left_.push_back(key.id); }

  enum class Visited : std::uint8_t { more, enough };
  /// Acquisitions that wait for it and do not keep it for a later resource, in their order.
  template <typename Visit>
  void each_waiter(const Key& key, Visit&& visit) {
    key.waiters.each_while([&](std::uint32_t index) {
      ++walked_;
      Acquisition& acquisition = acquisitions_.at(index);
      return !acquisition.waiting.queued || visit(acquisition) == Visited::more;
    });
  }
  [[nodiscard]] Acquisition& waiter(std::uint32_t index) { return acquisitions_.at(index); }
  /// Nodes on which an attempt of ours that is not over has been granted it, or may be.
  [[nodiscard]] NodeSet being_taken(const Entry& entry) const;
  /// Waiters that were visited one by one.
  [[nodiscard]] std::uint64_t walked() const noexcept { return walked_; }

 private:
  void forget_left();
  void forget(std::uint32_t id);

  Pool<Acquisition>& acquisitions_;
  Keys keys_;
  std::unordered_map<std::uint32_t, Entry*> by_id_;
  std::uint32_t last_id_ = 0;
  std::vector<std::uint32_t> left_;
  std::uint64_t walked_ = 0;
};

}  // namespace redlock::core
