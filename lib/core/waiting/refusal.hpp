#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/vocabulary/lock_terms.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "redlock/error.hpp"

namespace redlock::core {

/// The obstacle to a lock, as the nodes that refuse it name it.
enum class Obstacle : std::uint8_t {
  unknown,      ///< no node names it: servers before 7.0 do not
  lock,         ///< a lock of this library, or a writer that waits for one
  holds,        ///< the holds of readers, or of an owner
  reservation,  ///< nodes keep the resource for a client that waits
  interval,     ///< the lock was released, and its interval goes on
  foreign,      ///< a lock of another library
};
[[nodiscard]] Obstacle obstacle_of(std::string_view holder);
/// Whether nodes notify waiting clients when the obstacle goes. Other libraries' locks have to be
/// polled.
[[nodiscard]] constexpr bool is_ours(Obstacle obstacle) noexcept {
  return obstacle != Obstacle::unknown && obstacle != Obstacle::foreign;
}

/// Why an attempt was lost: all that waiting knows of its votes. Made when the attempt is lost, and
/// never changed afterwards.
struct Refusal {
  Errc why = Errc::unavailable;
  Obstacle obstacle = Obstacle::unknown;  ///< the obstacle that most of the refusing nodes name
  bool is_another_group = false;          ///< the obstacle is a group other than the caller's own
  bool is_known = false;          ///< a quorum names one holder, or one client with a reservation
  bool is_foreign = false;        ///< the lock is held, and nodes cannot notify us of its release
  bool is_among_foreign = false;  ///< foreign locks have some nodes, and no quorum names one holder
  NodeSet granted{};              ///< the nodes that granted the attempt
  std::uint64_t resource = 0;     ///< the one of several in the way: see LockTerms::resource_at()
  std::optional<Duration> free_in{};  ///< see Round::free_in()
  Instant began{};                    ///< when the attempt began

  /// Whether another client has the lock, so that its release passes the lock on.
  [[nodiscard]] bool will_be_passed_on() const noexcept {
    return is_known && is_ours(obstacle) && obstacle != Obstacle::reservation;
  }
};

/// `waited_for`: which of several resources the caller has waited for until now; 0: none.
[[nodiscard]] Refusal refusal_by(const Round& lost, Errc why, const LockTerms& terms,
                                 std::uint64_t waited_for);

}  // namespace redlock::core
