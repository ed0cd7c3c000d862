#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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
    std::uint32_t id = 0;  ///< in the stamps of requests about it
    NodeSet asked;         ///< to queue us
    Position position = Position::once;
    NodeSet queued;                         ///< did: they notify us when it is our turn
    Instant asked_at = Instant::min();      ///< first of all
    Instant contended_at = Instant::min();  ///< somebody was queued for it, or notified
    std::int64_t ticket = 0;                ///< the highest that a node gave us; 0: none
    NodeSet level;                          ///< where we have that one
    NodeSet first;                          ///< where we are first in the queue
    Instant planned_at = Instant::min();    ///< the sleep of all its waiters
    bool has_awake = false;                 ///< waiters that may be planned to sleep
    Instant watch_until = Instant::min();   ///< who waits is to see then if the next one came
    NodeSet settled;  ///< where a notification of what is over may be on its way
    Waiters waiters;
    std::optional<std::uint32_t> last_attempt{};  ///< with a ticket: of which acquisition,
    NodeSet taking;                               ///< and where it was not refused
    std::uint32_t alone = 0;                      ///< of the waiters that are queued: no readers
    std::uint32_t need_more = 0;                  ///< resources than this one
    std::uint32_t kept = 0;     ///< reserved for so many of them, which wait for another resource
    std::uint32_t permits = 0;  ///< of the semaphore that it is the queue of
    std::uint32_t granted_permit = 0;  ///< the last one
  };
  /// In an order of its own, so that a seed reproduces.
  using Keys = std::map<std::string, Key, std::less<>>;
  using Entry = Keys::value_type;

  /// A new one if there is none. It stays where it is until it is forgotten.
  Entry& note(std::string_view key);

  [[nodiscard]] Entry* find(std::string_view key);
  [[nodiscard]] Entry* find(std::uint32_t id);
  [[nodiscard]] Keys& all() noexcept { return keys_; }

  /// Unless somebody waits for it again. A few are kept for who locks them again and again.
  void forget(std::uint32_t id);

 private:
  Keys keys_;
  std::unordered_map<std::uint32_t, Entry*> by_id_;
  std::uint32_t last_id_ = 0;
};

}  // namespace redlock::core
