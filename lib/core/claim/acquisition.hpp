#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/claim/lock_terms.hpp"
#include "core/claim/round.hpp"
#include "core/containers/pool_index.hpp"
#include "core/engine/messages.hpp"
#include "core/randomness.hpp"
#include "core/time.hpp"
#include "core/waiting/refusal.hpp"
#include "core/waiting/waiting.hpp"

namespace redlock::core {

/// One acquire call: as many attempts as it takes, each a claim with a token of its own.
///
/// Anybody may read it. Who changes what, once Acquisitions has made it (*acquire* is
/// engine_acquire.cpp):
///
/// | fields | are changed by |
/// |---|---|
/// | `request`, `by_request` | Acquisitions |
/// | `state` | *acquire*, by Acquisitions::enter() after the first |
/// | what the call asks for: `terms` to `give_up`, `reserves` | *acquire*, when it begins |
/// | `first_round`, `attempts`, `claim`, `next_try`, `why` | *acquire* |
/// | `permit`, `moves`, `reconnected`, `is_waiting`, `by_notification` | *acquire* |
/// | `failed_attempts` | *acquire*; WaitQueue begins to count anew |
/// | `for_space` | SpaceQueue; *acquire* ends it |
/// | `by_script`, `free_permits` | *acquire*, when it begins; KeyNotes |
/// | `waiting` | *acquire*, when it begins; WaitQueue |
/// | `last`, `has_last` | *acquire*; Voters if nobody could be asked |
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
  PoolIndexPlace<> by_request;

  State state = State::connecting;
  CallId request{};
  LockTerms terms;
  bool tell_remaining = false;
  std::optional<Acquire::Renewal> renewal;
  std::optional<Duration> fencing;  ///< wall clock less boot clock

  Instant began{};                 ///< the call
  std::optional<Instant> give_up;  ///< none: one attempt
  std::optional<Instant> first_round;
  unsigned attempts = 0;
  unsigned failed_attempts = 0;  ///< attempts lost since the last notification
  bool for_space = false;        ///< it waits until the nodes have answered others
  bool by_script = false;        ///< a SET does not get past what is in the way

  bool reconnected = false;      ///< connections were lost under it once, and it waited for others
  bool is_waiting = false;       ///< it was refused, and is counted as a waiting one
  bool by_notification = false;  ///< its attempt is
  bool reserves = false;         ///< it may wait: its attempts have new holds of others refused

  std::uint32_t permit = 0;                ///< asked for now
  std::uint32_t moves = 0;                 ///< from permit to permit, since the last pause
  std::vector<std::uint8_t> free_permits;  ///< how many nodes said that it can have it
  ClaimId claim{};

  Waiting waiting;  ///< while it waits

  /// Several that wait for the same may be let in.
  [[nodiscard]] bool makes_room() const noexcept { return terms.traits().has_holds; }

  Refusal refusal;        ///< why the last attempt was lost
  bool has_last = false;  ///< an attempt was lost: see `last`
  Round last;             ///< its votes, for the report to the caller

  /// An attempt, or what nodes said of it so far, is lost.
  void lose(const Round& round, Errc why);
  /// The attempt whose votes are in `last` is lost.
  void lose(Errc why);
  /// A node refused a permit, and said which ones it would give: each of them is '1' in `free`.
  void note_free_permits(std::string_view free);
  /// The next attempt asks for one that most nodes would give.
  void choose_permit(Randomness& random);
  /// Whether another one is worth an attempt at once.
  [[nodiscard]] bool may_change_permit(Instant now, std::size_t quorum) const;
};

}  // namespace redlock::core
