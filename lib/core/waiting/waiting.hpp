#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// When a waiting acquisition asks again.
struct Plan {
  Instant next_try{};
  /// When a node is asked whether the key is free. Instant::max(): another acquisition of this
  /// client asks for all of them.
  Instant next_check = Instant::max();
  bool asleep = false;  ///< a quorum will notify it before `next_try`, unless messages get lost

  /// When the acquisition next has something to do.
  [[nodiscard]] Instant wakes_at() const noexcept { return std::min(next_try, next_check); }
};

/// The bit of one of several resources: see LockTerms::resource_at().
[[nodiscard]] constexpr std::uint64_t which_bit(std::uint64_t which) noexcept {
  return std::uint64_t{1} << (which - 1);
}

/// The state of an acquisition's waiting.
struct Waiting {
  std::uint64_t arrival = 0;  ///< the acquisition's number among all that ever waited
  bool queued = false;        ///< the acquisition is among the waiters of a key
  bool has_ticket = false;    ///< a refused attempt queues the client
  bool tracks = false;        ///< nodes track the key, because another library's lock is in the way
  bool reserved = false;      ///< nodes refuse new holds of others because of this acquisition
  std::uint64_t blocked_by = 0;  ///< which of several resources it waits for; 0: it needs only one
  struct Position {
    std::int64_t ticket = 0;       ///< the client's ticket when it left the queue; 0: none
    std::uint64_t kept_since = 0;  ///< the `arrival` of the waiter that keeps the resource; 0: none
  };
  /// Queue positions for several resources: see LockTerms::resource_at().
  std::vector<Position> positions;
  bool has_turn = false;  ///< the awaited one of several resources was passed on to it
  Instant keeps_since = Instant::min();  ///< if it keeps any: when it began to
  Instant turn_began = Instant::min();
  /// Until when what is passed on to it in this turn stays reserved for it.
  Instant turn_until = Instant::min();
  bool is_behind = false;        ///< a node has another client before it in the queue
  std::uint32_t vain_turns = 0;  ///< turns that ended before the other resources were passed on
  [[nodiscard]] bool keeps(std::uint64_t which) const noexcept {
    return positions[which - 1].kept_since > 0;
  }
  [[nodiscard]] bool keeps_any() const noexcept {
    return std::any_of(positions.begin(), positions.end(),
                       [](const Position& position) { return position.kept_since > 0; });
  }

  NodeSet notified_by;      ///< nodes that have notified it since its last attempt began
  bool saw_change = false;  ///< another library's lock has changed since its last attempt began
  /// When the acquisition asks as the standby, in case the successor does not come. Instant::min():
  /// no node chose this client as the standby.
  Instant watch_until = Instant::min();
  bool watches = false;             ///< the last attempt was made as the standby
  std::optional<Instant> retry_at;  ///< when to try again, because nodes notified it
  Plan plan;                        ///< the plan for the next attempt
};

}  // namespace redlock::core
