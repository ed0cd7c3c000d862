#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/containers/pool_index.hpp"
#include "core/vocabulary/lock_terms.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "core/waiting/refusal.hpp"
#include "core/waiting/waiting.hpp"

namespace redlock::core {

/// One acquire call: as many attempts as it takes, each a claim with a token of its own.
///
/// Anybody may read an acquisition. Attempts changes it, and:
///
/// | fields | are also changed by |
/// |---|---|
/// | `request`, `by_request`, `state` | Acquisitions |
/// | `failed_attempts`, `waiting` | WaitQueue |
/// | `waits_for_space` | SpaceQueue |
/// | `by_script`, `free_permits` | KeyNotes |
/// | `last`, `has_last` | Voters, if nobody could be asked |
struct Acquisition {
  enum class State : std::uint8_t {
    connecting,   ///< waits for first contact with enough nodes
    in_round,     ///< an attempt is under way
    backing_off,  ///< between attempts
    over,
  };

  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;
  PoolIndexHook<> by_request;

  State state = State::connecting;
  CallId request{};
  LockTerms terms;
  /// A refusal is to report the remaining TTL of the holder's key.
  bool wants_remaining = false;
  std::optional<Acquire::Renewal> renewal;
  /// The wall clock minus the boot clock, for the fencing token; none: no token is requested.
  std::optional<Duration> fencing;

  Instant began{};                     ///< when the call began
  std::optional<Instant> give_up;      ///< when to give up; none: after one attempt
  std::optional<Instant> first_round;  ///< when the first attempt began; none: none has begun
  unsigned attempts = 0;               ///< attempts that have begun
  unsigned failed_attempts = 0;        ///< attempts lost since the last notification
  /// Since when too few nodes are left that remember; none: that is not so.
  std::optional<Instant> hopeless_since{};
  bool waits_for_space =
      false;               ///< waits in SpaceQueue until the nodes have answered other requests
  bool by_script = false;  ///< attempts use the script: a SET does not get past what is in the way

  bool reconnected = false;      ///< an attempt lost its connections once, and waited for new ones
  bool is_waiting = false;       ///< was refused, and is counted as waiting
  bool by_notification = false;  ///< a notification caused the current attempt
  bool reserves = false;  ///< can wait, and nodes that refuse it also refuse new holds of others

  std::uint32_t permit = 0;                ///< the permit that the current attempt tries to get
  std::uint32_t permit_changes = 0;        ///< changes from permit to permit since the last pause
  std::vector<std::uint8_t> free_permits;  ///< for each permit, how many nodes would give it
  ClaimId claim{};                         ///< the claim of the current or the last attempt

  Waiting waiting;  ///< WaitQueue's state for this call

  /// Whether several acquisitions that wait for the same resource can get it together.
  [[nodiscard]] bool makes_room() const noexcept { return terms.traits().has_holds; }

  Refusal refusal;        ///< why the last attempt was lost
  bool has_last = false;  ///< an attempt was lost: `last` has its votes
  Round last;             ///< votes of the last lost attempt, for the report to the caller

  /// A new call has this place. The memory of the one before is reused.
  void begin(const Acquire& event, Instant now);
  /// The attempt with these votes is lost, maybe before all nodes have answered.
  void lose(const Round& round, Errc why);
  /// The attempt with the votes in `last` is lost.
  void lose(Errc why);
  /// A node refused a permit, and said which permits it would give: '1' in `free` at the permit's
  /// index.
  void note_free_permits(std::string_view free);
  /// Chooses, for the next attempt, a permit that most nodes would give.
  void choose_permit(Randomness& random);
  /// Whether another permit is worth an attempt at once.
  [[nodiscard]] bool may_change_permit(Instant now, std::size_t quorum) const;
};

}  // namespace redlock::core
