#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/claim/renewal.hpp"
#include "core/containers/pool_index.hpp"
#include "core/vocabulary/lock_terms.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/queue_position.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/fencing.hpp"
#include "core/votes/key_ledger.hpp"
#include "core/votes/round.hpp"
#include "core/votes/validity_basis.hpp"
#include "support/assert.hpp"
#include "support/label.hpp"

namespace redlock::core {

/// The hash by which Claims finds the claims of a token.
[[nodiscard]] inline std::uint64_t hash_of(std::string_view token) noexcept {
  return std::hash<std::string_view>()(token);
}

/// One token and everything that it may have left on the nodes, from the first SET until nothing
/// can be left there. A failed attempt, a lease, and a release that a node is still owed are the
/// same thing in different *phases*. The *purpose* that a claim was made for changes only if a lock
/// that was extended by its token is adopted.
///
/// Anybody may read a claim. After Claims has made it, its fields are changed by these:
///
/// | fields | are changed by |
/// |---|---|
/// | `purpose`, `was_adopted` | Leases, when it adopts |
/// | `by_operator` | CallsByToken |
/// | `phase` | Attempts, Leases, Releases, Inspections |
/// | `task`, `verb` | the same; NewClaims, while nodes are to be met |
/// | `valid_until` | Attempts, Leases, CallsByToken |
/// | `granted_at`, `lease()` | Attempts, Leases; KeyNotes adds late nodes to the basis |
/// | the terms | Attempts, CallsByToken; Leases downgrades |
/// | `acquisition`, `contended` | Attempts |
/// | `fencing()` | FencingTokens; KeyNotes adds to `asked` |
/// | `keys`: what was sent | Sender |
/// | `keys`: which nodes have the key | KeyNotes, Rounds, OwedReleases |
/// | `keys`: what is a vote | NewClaims begins, KeyNotes; Voters removes lost votes |
/// | `keys`: what is owed | OwedReleases; Leases, Releases, CallsByToken, Contacts |
/// | `round` | Voters begins it; Rounds, Voters, Leases, Releases record; IdleLeases keeps votes |
/// | `unanswered` | Sender adds, Rounds takes away |
/// | `unasked` | Rounds and NewClaims add; the activities |
/// | `touched` | Agenda sets it, Engine clears it |
/// | `is_hold` | KeyNotes |
/// | `watches_queue` | QueueWatch |
/// | `work`, `idle` | IdleLeases; what is in `work`: see there |
/// | `finished`, `label`, `by_token` | Claims |
struct Claim {
  enum class Purpose : std::uint8_t {
    acquire,  ///< an attempt, and the lease that may come of it
    extend,   ///< the extend of somebody's lease, by its token
    release,  ///< the release of somebody's lease, by its token
    inspect,
  };
  enum class Phase : std::uint8_t {
    acquiring,    ///< the granting round is under way
    held,         ///< a lease
    lost,         ///< a lease whose deadline has passed: kept as it is until Release or Detach
    by_token,     ///< a round about somebody else's token
    cleaning_up,  ///< over: waits for answers and for the releases that are owed
  };
  /// The decision that the current round is for; `none` after it has decided.
  enum class Task : std::uint8_t {
    none,
    meet_nodes,  ///< by token: waits until it is known whose votes count
    acquire,
    fence,  ///< the lock is ours, but its fencing token is not decided
    extend,
    release,
    release_by_token,
    inspect,
  };
  /// The part of a claim that only a lease has.
  struct Lease {
    ValidityBasis basis;  ///< the nodes that the deadline rests on
    Renewal renewal;
  };
  struct QueuedExtend {
    CallId request;
    Duration ttl;
  };
  /// Memory that a claim needs only while it is busy. Idle leases have none
  /// (`IdleLeases::archive`), because a client can hold a million of them. Its fields are changed
  /// by these:
  ///
  /// | fields | are changed by |
  /// |---|---|
  /// | `requests` | NewClaims, Leases, Releases, Inspections, Observers, Failures |
  /// | `queued`, `downgrades` | Leases, Failures |
  /// | `steps` | Attempts, Leases |
  /// | `writer_reservation` | Attempts |
  /// | `delay`, `adopted` | CallsByToken |
  /// | `position` | Attempts, as WaitQueue says; Sender adds to `nodes` |
  /// | `position.unanswered`, `position.again` | Attempts; KeyNotes; OwedReleases, Engine |
  /// | `in_full` | Sender; Rounds takes out a node that granted or released |
  /// | `deployment`, `ballot_found_at` | Voters |
  /// | `holds_left` | OwedReleases |
  /// | `observation` | Observers |
  /// | `votes` | IdleLeases |
  struct Work {
    /// For each verb: nodes that were sent the script in full, because they did not know its
    /// digest. Several verbs can be unanswered at once: a release is sent after any other request.
    std::array<NodeSet, verbs> in_full{};
    SharedMarks steps;       ///< steps of the nodes' clocks when the round began
    std::string deployment;  ///< the deployment whose votes the round counts: that of the ballot
    std::uint64_t ballot_found_at = 0;  ///< Nodes::Ballot::found_at when the round began
    QueuePosition position;
    Duration writer_reservation{};            ///< how long new holds of others are refused
    Duration delay{};                         ///< release: see ReleaseToken
    std::optional<RenewalLimits> adopted{};   ///< extend: the claim becomes a lease, on these terms
    std::optional<std::uint32_t> holds_left;  ///< the most holds that a node counted at the release
    std::optional<std::uint32_t> observation;  ///< the observation that this inspection is for
    std::vector<CallId> requests;              ///< calls that wait for the round
    std::vector<QueuedExtend> queued;     ///< extends that were requested while one is under way
    std::vector<CallId> downgrades;       ///< downgrades that were requested meanwhile
    std::unique_ptr<Round::Votes> votes;  ///< memory for votes, while no claim has this work

    /// Resets all members that a new claim must not find, and keeps what they have allocated.
    void reset() {
      in_full.fill(NodeSet());
      steps.reset();
      position = QueuePosition();
      writer_reservation = delay = Duration::zero();
      adopted.reset();
      holds_left.reset();
      observation.reset();
      requests.clear();
      queued.clear();
      downgrades.clear();
    }
  };

  static constexpr Instant never = Instant::min();

  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;

  // The fields from here to the votes are read for every answer, and so are next to each other in
  // the cache.
  Purpose purpose = Purpose::inspect;
  Phase phase = Phase::cleaning_up;
  Task task = Task::none;
  bool finished = false;
  bool touched = false;        ///< to be judged before the step is over
  bool was_adopted = false;    ///< other processes may know its token
  bool is_hold = false;        ///< by token: a node said that the token is one of several holds
  bool by_operator = false;    ///< release: see ReleaseToken
  bool idle = false;           ///< listed by IdleLeases, which may take its work
  bool contended = false;      ///< the acquisition was refused before, so others may wait as well
  bool watches_queue = false;  ///< the holder wants to know whether other clients wait
  bool is_fenced = false;      ///< a fencing token was requested
  bool is_special = false;     ///< has special terms, which most locks do not have
  bool downgraded = false;     ///< was a writer's lease: nodes may still have the writer's key
  Verb verb = Verb::set;       ///< the request of the round, also for nodes that come up during it
  NodeSet unasked;             ///< nodes in first contact, which are asked as soon as they are up
  std::uint32_t acquisition = 0;  ///< the index of the acquisition that made this attempt or lease
  std::uint32_t unanswered = 0;   ///< requests that wait for their answers
  KeyLedger keys;                 ///< what the token may have left on the nodes
  Instant valid_until{};          ///< when the lease ends, or would end if the attempt won
  Instant granted_at = never;     ///< when the claim became a lease; never: it did not

  // --- the current round ---
  Round round;
  std::unique_ptr<Work> work;

  support::Label label;
  PoolIndexHook<std::uint32_t> by_token;

  [[nodiscard]] ClaimId id() const noexcept { return {index, generation}; }

  /// The resource of the claim; for a permit, the permit's own key.
  [[nodiscard]] std::string_view resource() const noexcept { return label.resource(); }
  [[nodiscard]] std::string_view token() const noexcept { return label.token(); }
  /// The special terms. They do not change while the claim lasts, unless it is downgraded.
  [[nodiscard]] const SpecialTerms& terms() const noexcept {
    return is_special ? special_->terms : plain_terms;
  }
  void set_terms(const SpecialTerms& terms) {
    is_special = !terms.none();
    if (is_special) special().terms = terms;
  }
  /// The lease counts as a reader's from now on, whatever the nodes will answer.
  void downgrade() {
    SpecialTerms readers = terms();
    readers.group = readers_group;
    set_terms(readers);
    downgraded = true;
  }
  /// Sets what is known about the terms of somebody else's lock.
  void set_more_resources(std::span<const std::string> more, std::string_view group = {}) {
    set_terms({{more.begin(), more.end()}, std::string(group), 0, {}, {}});
  }
  /// Whether the claim is about this resource, too.
  [[nodiscard]] bool names(std::string_view one) const {
    const std::vector<std::string>& more = terms().more_resources;
    return resource() == one || std::find(more.begin(), more.end(), one) != more.end();
  }

  /// For a claim that is held.
  [[nodiscard]] Lease& lease() noexcept {
    REDLOCK_ASSERT(phase == Phase::held);
    return lease_;
  }
  /// Whether a release or a hand-over has to end the claim: it is a lease, or was one.
  [[nodiscard]] bool has_holder() const noexcept {
    return phase == Phase::held || phase == Phase::lost;
  }
  /// Moves the deadline of a lease.
  void move_deadline(Instant to) noexcept {
    valid_until = to;
    lease().renewal.deadline_moved();
  }
  /// Null if no fencing token was requested.
  [[nodiscard]] Fencing* fencing() noexcept { return is_fenced ? &special_->fencing : nullptr; }
  [[nodiscard]] const Fencing* fencing() const noexcept {
    return const_cast<Claim*>(this)->fencing();
  }
  [[nodiscard]] Fencing& begin_fencing() {
    is_fenced = true;
    return special().fencing = Fencing();
  }
  [[nodiscard]] bool was_granted() const noexcept { return granted_at != never; }
  /// A release that is repeated later does not queue the client again, which may have left by then.
  // NOLINTNEXTLINE(readability-make-member-function-const): the work is a part of the claim
  void queue_no_more() noexcept {
    if (work) work->position.again = false;
  }
  /// Precondition: the claim has its work.
  [[nodiscard]] const QueuePosition& position() const noexcept { return work->position; }
  /// The resource with this number, counted from 1.
  [[nodiscard]] std::string_view resource_at(std::uint64_t which) const {
    return which > 1 ? terms().more_resources[which - 2] : resource();
  }
  /// The queue position that a request carries; null: none.
  [[nodiscard]] const QueuePosition* position_in(Verb asked) const noexcept {
    if (!work || !work->position.as_client) return nullptr;
    const bool says = is_set(asked) || (asked == Verb::release && work->position.again);
    return says ? &work->position : nullptr;
  }
  [[nodiscard]] Duration writer_reservation() const noexcept {
    return work ? work->writer_reservation : Duration::zero();
  }
  /// Whether calls wait for the end of the round.
  [[nodiscard]] bool has_queued_calls() const noexcept {
    return work && !(work->queued.empty() && work->downgrades.empty());
  }

  /// Whether this is an idle lease: nothing is under way, and every node has granted it.
  [[nodiscard]] bool is_idle() const noexcept {
    return phase == Phase::held && task == Task::none && unanswered == 0 && unasked.empty() &&
           work && work->requests.empty() && !has_queued_calls() && round.is_unanimous();
  }

  /// For how long a release must still keep everybody out. Zero if the claim was never granted:
  /// nobody held the resource.
  [[nodiscard]] Duration cooldown(Instant now) const {
    if (!was_granted()) return Duration::zero();
    return std::max(Duration::zero(), later(granted_at, terms().hold_at_least) - now);
  }
  /// How long the nodes are to keep the key. An interval counts, too: it keeps everybody out even
  /// if the holder crashes.
  [[nodiscard]] Duration time_to_ask(Verb asked, Instant now) const {
    if (asked == Verb::expire_orphan) return *terms().orphan_ttl;
    if (asked == Verb::break_lock) return work->delay;
    if (asked == Verb::downgrade) return Duration::zero();
    const Duration ttl =
        std::max(round.ttl(), was_granted() ? cooldown(now) : terms().hold_at_least);
    // A plain command sets the expiry, while a script only raises it.
    const bool plain = asked == Verb::extend_plain || asked == Verb::repair_plain;
    return plain ? std::max(ttl, keys.longest_asked()) : ttl;
  }

  /// The verb by which the claim's key leaves the nodes.
  [[nodiscard]] Verb release_verb() const noexcept {
    return work && work->delay > Duration::zero() ? Verb::break_lock : Verb::release;
  }

  /// Makes a reused slot new, and keeps what its members have allocated.
  void reset(Purpose what_for) {
    purpose = what_for;
    phase = what_for == Purpose::acquire ? Phase::acquiring : Phase::by_token;
    task = Task::none;
    finished = touched = is_hold = was_adopted = by_operator = false;
    unanswered = 0;
    keys = KeyLedger();
    round.reset();
    valid_until = Instant{};
    granted_at = never;
    contended = watches_queue = false;
    acquisition = 0;
    unasked = NodeSet();
    is_fenced = is_special = downgraded = false;
    lease_ = Lease();
  }

 private:
  /// The part that most claims do not have.
  struct Special {
    SpecialTerms terms;
    Fencing fencing;
  };
  Special& special() {
    if (!special_) special_ = std::make_unique<Special>();
    return *special_;
  }

  std::unique_ptr<Special> special_;  // kept for the next use of this slot
  Lease lease_;
};

}  // namespace redlock::core
