#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/containers/pool_index.hpp"
#include "core/containers/written_by.hpp"
#include "core/vocabulary/lock_terms.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "core/waiting/refusal.hpp"
#include "core/waiting/waiting.hpp"

namespace redlock::core {

class Acquisitions;
class Attempts;
class KeyNotes;
class Schedule;
class SpaceQueue;
class Voters;
class WaitQueue;

/// One acquire call: as many attempts as it takes, each a claim with a token of its own.
///
/// Anybody may read an acquisition. Fields of the type `Of` are changed by Attempts and by those
/// that the type names; most are set once, by begin().
struct Acquisition {
 private:
  static constexpr By<Acquisition> me{};

 public:
  template <typename Value, typename... Writers>
  using Of = WrittenBy<Value, Acquisition, Attempts, Writers...>;

  enum class State : std::uint8_t {
    connecting,   ///< waits for enough nodes that are being connected to
    in_round,     ///< an attempt is under way
    backing_off,  ///< between attempts, or before the first one
    over,
  };

  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;
  PoolIndexHook<> by_request;

  WrittenBy<State, Acquisition, Acquisitions> state = State::connecting;
  WrittenBy<CallId, Acquisitions> request;
  Of<LockTerms> terms;
  /// A refusal is to report the remaining TTL of the holder's key.
  Of<bool> wants_remaining = false;
  Of<std::optional<Acquire::Renewal>> renewal;
  /// The wall clock minus the boot clock, for the fencing token; none: no token is requested.
  Of<std::optional<Duration>> fencing;

  Of<Instant> began;                       ///< when the call began
  Of<std::optional<Instant>> give_up;      ///< when to give up; none: after one attempt
  Of<std::optional<Instant>> first_round;  ///< when the first attempt began; none: none has begun
  Of<unsigned> attempts = 0U;              ///< attempts that have begun
  /// Attempts that have begun since the last notification.
  Of<unsigned, Schedule> failed_attempts = 0U;
  /// Since when too few nodes are left that remember; none: that is not so.
  Of<std::optional<Instant>> hopeless_since;
  /// Waits in SpaceQueue until the nodes have answered other requests.
  Of<bool, SpaceQueue> waits_for_space = false;
  /// Attempts use the script: a SET does not get past what is in the way.
  Of<bool, KeyNotes> by_script = false;

  Of<bool> reconnected = false;  ///< an attempt lost its connections once, and waited for new ones
  Of<bool> is_waiting = false;   ///< was refused, and is counted as waiting
  Of<bool> by_notification = false;  ///< a notification caused the current attempt
  /// Can wait, and nodes that refuse it also refuse new holds of others.
  Of<bool> reserves = false;

  Of<std::uint32_t> permit = 0U;          ///< the permit that the current attempt tries to get
  Of<std::uint32_t> permit_changes = 0U;  ///< changes from permit to permit since the last pause
  /// For each permit, how many nodes would give it.
  Of<std::vector<std::uint8_t>, WaitQueue> free_permits;
  Of<ClaimId> claim;  ///< the claim of the current or the last attempt

  Of<Waiting, WaitQueue, Schedule> waiting;  ///< WaitQueue's state for this call

  /// Whether several acquisitions that wait for the same resource can get it together.
  [[nodiscard]] bool makes_room() const noexcept { return terms->traits().has_holds; }

  Of<Refusal> refusal;        ///< why the last attempt was lost
  Of<bool> has_last = false;  ///< an attempt was lost: `last` has its votes
  /// Votes of the last lost attempt, for the report to the caller; Voters: nobody could be asked.
  Of<Round, Voters> last;

  /// A new call has this place. The memory of the one before is reused.
  void begin(By<Attempts> /*their*/, const Acquire& event, Instant now);
  /// The attempt with these votes is lost, maybe before all nodes have answered.
  void lose(By<Attempts> their, const Round& round, Errc why);
  /// The attempt with the votes in `last` is lost.
  template <OneOf<Attempts, Voters> Writer>
  void lose(By<Writer> /*their*/, Errc why) {
    has_last.by(me) = true;
    refusal.by(me) = refusal_by(last, why, terms, waiting->blocked_by);
  }
  /// A node refused a permit, and said which permits it would give: '1' in `free` at the permit's
  /// index.
  void note_free_permits(By<KeyNotes> /*their*/, std::string_view free);
  /// Chooses, for the next attempt, a permit that most nodes would give.
  void choose_permit(By<Attempts> /*their*/, Randomness& random);
  /// Whether another permit is worth an attempt at once.
  [[nodiscard]] bool may_change_permit(Instant now, std::size_t quorum) const;
};

}  // namespace redlock::core
