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
#include "core/containers/written_by.hpp"
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

class Agenda;
class Attempts;
class CallsByToken;
class Claims;
class Contacts;
class Engine;
class Failures;
class FencingTokens;
class IdleLeases;
class Inspections;
class KeyNotes;
class Leases;
class NewClaims;
class Observers;
class OwedReleases;
class QueueWatch;
class Releases;
class Rounds;
class Sender;
class Voters;

/// The hash by which Claims finds the claims of a token.
[[nodiscard]] inline std::uint64_t hash_of(std::string_view token) noexcept {
  return std::hash<std::string_view>()(token);
}

/// One token and everything that it may have left on the nodes, from the first SET until nothing
/// can be left there. A failed attempt, a lease, and a release that a node is still owed are the
/// same thing in different *phases*. The *purpose* that a claim was made for changes only if a lock
/// that was extended by its token is adopted.
///
/// Anybody may read a claim. The type of a field says who may change it after Claims has made it;
/// index, generation, live and by_token are Pool's and PoolIndex'.
struct Claim {
 private:
  static constexpr By<Claim> me{};

 public:
  template <typename Value, typename... Writers>
  using Of = WrittenBy<Value, Claim, Writers...>;

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
  /// (`IdleLeases::archive`), because a client can hold a million of them.
  struct Work {
    /// For each verb: nodes that were sent the script in full, because they did not know its
    /// digest. Several verbs can be unanswered at once: a release is sent after any other request.
    Of<std::array<NodeSet, verbs>, Sender, Rounds> in_full;
    /// Steps of the nodes' clocks when the round began.
    Of<SharedMarks, Attempts, Leases> steps;
    /// The deployment whose votes the round counts: that of the ballot.
    Of<std::string, Voters> deployment;
    Of<std::uint64_t, Voters> ballot_found_at;  ///< Nodes::Ballot::found_at when the round began
    Of<QueuePosition, Attempts, Sender, KeyNotes> position;
    Of<Duration, Attempts> writer_reservation;  ///< how long new holds of others are refused
    Of<Duration, CallsByToken> delay;           ///< release: see ReleaseToken
    /// Extend: the claim becomes a lease, on these terms.
    Of<std::optional<RenewalLimits>, CallsByToken> adopted;
    /// The most holds that a node counted at the release.
    Of<std::optional<std::uint32_t>, OwedReleases> holds_left;
    /// The observation that this inspection is for.
    Of<std::optional<std::uint32_t>, Observers> observation;
    /// Calls that wait for the round.
    Of<std::vector<CallId>, NewClaims, Leases, Releases, Inspections, Observers, Failures> requests;
    /// Extends and downgrades that were requested while a round is under way.
    Of<std::vector<QueuedExtend>, Leases, Failures> queued;
    Of<std::vector<CallId>, Leases, Failures> downgrades;
    /// Memory for votes, while no claim has this work.
    Of<std::unique_ptr<Round::Votes>, IdleLeases> votes;

    /// Makes the memory ready for another claim, and keeps what its members have allocated.
    void reset(By<IdleLeases> /*their*/) {
      in_full.by(me).fill(NodeSet());
      steps.by(me).reset();
      position.by(me) = QueuePosition();
      writer_reservation.by(me) = delay.by(me) = Duration::zero();
      adopted.by(me).reset();
      holds_left.by(me).reset();
      observation.by(me).reset();
      requests.by(me).clear();
      queued.by(me).clear();
      downgrades.by(me).clear();
    }
  };

  static constexpr Instant never = Instant::min();

  // kept by Pool
  std::uint32_t index = 0;
  std::uint32_t generation = 0;
  bool live = false;

  // The fields from here to the votes are read for every answer, and so are next to each other in
  // the cache.
  Of<Purpose, Leases> purpose = Purpose::inspect;
  Of<Phase, Attempts, Leases, Releases, Inspections> phase = Phase::cleaning_up;
  Of<Task, Attempts, Leases, Releases, Inspections, NewClaims> task = Task::none;
  Of<bool, Claims> finished = false;
  Of<bool, Agenda, Engine> touched = false;    ///< to be judged before the step is over
  Of<bool, Leases> was_adopted = false;        ///< other processes may know its token
  Of<bool, KeyNotes> is_hold = false;          ///< by token: a node said that it is one of several
  Of<bool, CallsByToken> by_operator = false;  ///< release: see ReleaseToken
  Of<bool, IdleLeases> idle = false;           ///< listed by IdleLeases, which may take its work
  /// The acquisition was refused before, so others may wait as well.
  Of<bool, Attempts> contended = false;
  /// The holder wants to know whether other clients wait.
  Of<bool, QueueWatch> watches_queue = false;
  /// The request of the round, also for nodes that come up during it.
  Of<Verb, Attempts, Leases, Releases, Inspections> verb = Verb::set;
  /// Nodes in first contact, which are asked as soon as they are up.
  Of<NodeSet, Rounds, NewClaims, Leases, Releases, Inspections, CallsByToken, Contacts> unasked;
  /// The index of the acquisition that made this attempt or lease.
  Of<std::uint32_t, Attempts> acquisition = 0;
  Of<std::uint32_t, Sender, Rounds> unanswered = 0;  ///< requests that wait for their answers
  /// The keys that the token may have left on the nodes. Sender enters SETs and extends,
  /// OwedReleases enters releases; KeyNotes, Rounds and OwedReleases enter their answers. KeyNotes
  /// notes which keys are votes, and removes lost ones, as Voters does. Releases, Contacts and
  /// OwedReleases enter what is owed.
  Of<KeyLedger, Sender, KeyNotes, Rounds, OwedReleases, NewClaims, Voters, Leases, Releases,
     CallsByToken, Contacts>
      keys;
  /// When the lease ends, or would end if the attempt won.
  Of<Instant, Attempts, Leases, CallsByToken> valid_until;
  /// When the claim became a lease; never: it did not.
  Of<Instant, Attempts, Leases> granted_at = never;

  // --- the current round ---
  /// Voters begins it; IdleLeases keeps its votes elsewhere.
  Of<Round, Voters, Rounds, Leases, Releases, IdleLeases> round;
  Of<std::unique_ptr<Work>, IdleLeases> work;

  Of<support::Label, Claims> label;
  PoolIndexHook<std::uint32_t> by_token;

  [[nodiscard]] ClaimId id() const noexcept { return {index, generation}; }

  /// The resource of the claim; for a permit, the permit's own key.
  [[nodiscard]] std::string_view resource() const noexcept { return label->resource(); }
  [[nodiscard]] std::string_view token() const noexcept { return label->token(); }
  /// The special terms, which most locks do not have. They do not change while the claim lasts,
  /// unless it is downgraded.
  [[nodiscard]] const SpecialTerms& terms() const noexcept {
    return is_special_ ? special_->terms : plain_terms;
  }
  template <OneOf<Attempts, CallsByToken> Writer>
  void set_terms(By<Writer> /*their*/, const SpecialTerms& terms) {
    replace_terms(terms);
  }
  /// The lease counts as a reader's from now on, whatever the nodes will answer.
  template <OneOf<Leases, CallsByToken> Writer>
  void downgrade(By<Writer> /*their*/) {
    SpecialTerms readers = terms();
    readers.group = readers_group;
    replace_terms(readers);
    downgraded_ = true;
  }
  [[nodiscard]] bool is_special() const noexcept { return is_special_; }
  /// Whether it was a writer's lease: nodes may still have the writer's key.
  [[nodiscard]] bool downgraded() const noexcept { return downgraded_; }
  /// Whether the claim is about this resource, too.
  [[nodiscard]] bool names(std::string_view one) const {
    const std::vector<std::string>& more = terms().more_resources;
    return resource() == one || std::find(more.begin(), more.end(), one) != more.end();
  }

  /// For a claim that is held.
  [[nodiscard]] const Lease& lease() const noexcept {
    REDLOCK_ASSERT(phase == Phase::held);
    return lease_;
  }
  template <OneOf<Attempts, Leases, KeyNotes> Writer>
  [[nodiscard]] Lease& lease(By<Writer> /*their*/) noexcept {
    REDLOCK_ASSERT(phase == Phase::held);
    return lease_;
  }
  /// Whether a release or a hand-over has to end the claim: it is a lease, or was one.
  [[nodiscard]] bool has_holder() const noexcept {
    return phase == Phase::held || phase == Phase::lost;
  }
  /// Moves the deadline of a lease.
  void move_deadline(By<Leases> /*their*/, Instant to) noexcept {
    valid_until.by(me) = to;
    lease_.renewal.deadline_moved();
  }
  /// Null if no fencing token was requested.
  [[nodiscard]] const Fencing* fencing() const noexcept {
    return is_fenced_ ? &special_->fencing : nullptr;
  }
  template <OneOf<FencingTokens, KeyNotes> Writer>
  [[nodiscard]] Fencing* fencing(By<Writer> /*their*/) noexcept {
    return is_fenced_ ? &special_->fencing : nullptr;
  }
  [[nodiscard]] Fencing& begin_fencing(By<FencingTokens> /*their*/) {
    is_fenced_ = true;
    return special().fencing = Fencing();
  }
  [[nodiscard]] bool was_granted() const noexcept { return *granted_at != never; }
  /// A release that is repeated later does not queue the client again, which may have left by then.
  // NOLINTNEXTLINE(readability-make-member-function-const): the work is a part of the claim
  void queue_no_more(By<OwedReleases> /*their*/) noexcept {
    if (work) work->position.by(me).again = false;
  }
  /// Precondition: the claim has its work.
  [[nodiscard]] const QueuePosition& position() const noexcept { return work->position; }
  /// The resource with this number, counted from 1.
  [[nodiscard]] std::string_view resource_at(std::uint64_t which) const {
    return which > 1 ? terms().more_resources[which - 2] : resource();
  }
  /// The queue position that a request carries; null: none.
  [[nodiscard]] const QueuePosition* position_in(Verb asked) const noexcept {
    if (!work || !work->position->as_client) return nullptr;
    const bool says = is_set(asked) || (asked == Verb::release && work->position->again);
    return says ? &*work->position : nullptr;
  }
  [[nodiscard]] Duration writer_reservation() const noexcept {
    return work ? *work->writer_reservation : Duration::zero();
  }
  /// Whether calls wait for the end of the round.
  [[nodiscard]] bool has_queued_calls() const noexcept {
    return work && !(work->queued->empty() && work->downgrades->empty());
  }

  /// Whether this is an idle lease: nothing is under way, and every node has granted it.
  [[nodiscard]] bool is_idle() const noexcept {
    return phase == Phase::held && task == Task::none && unanswered == 0 && unasked->empty() &&
           work && work->requests->empty() && !has_queued_calls() && round->is_unanimous();
  }

  /// For how long a release must still keep everybody out. Zero if the claim was never granted:
  /// nobody held the resource.
  [[nodiscard]] Duration cooldown(Instant now) const {
    if (!was_granted()) return Duration::zero();
    return std::max(Duration::zero(), later(granted_at, terms().interval) - now);
  }
  /// How long the nodes are to keep the key. An interval counts, too: it keeps everybody out even
  /// if the holder crashes.
  [[nodiscard]] Duration time_to_ask(Verb asked, Instant now) const {
    if (asked == Verb::expire_orphan) return *terms().orphan_ttl;
    if (asked == Verb::break_lock) return work->delay;
    if (asked == Verb::downgrade) return Duration::zero();
    const Duration ttl = std::max(round->ttl(), was_granted() ? cooldown(now) : terms().interval);
    // A plain command sets the expiry, while a script only raises it.
    const bool plain = asked == Verb::extend_plain || asked == Verb::repair_plain;
    return plain ? std::max(ttl, keys->longest_asked()) : ttl;
  }

  /// The verb by which the claim's key leaves the nodes.
  [[nodiscard]] Verb release_verb() const noexcept {
    return work && *work->delay > Duration::zero() ? Verb::break_lock : Verb::release;
  }

  /// Makes a reused slot new, and keeps what its members have allocated.
  void reset(By<Claims> /*their*/, Purpose what_for) {
    purpose.by(me) = what_for;
    phase.by(me) = what_for == Purpose::acquire ? Phase::acquiring : Phase::by_token;
    task.by(me) = Task::none;
    finished.by(me) = touched.by(me) = was_adopted.by(me) = is_hold.by(me) = false;
    by_operator.by(me) = contended.by(me) = watches_queue.by(me) = false;
    is_fenced_ = is_special_ = downgraded_ = false;
    unasked.by(me) = NodeSet();
    acquisition.by(me) = 0;
    unanswered.by(me) = 0;
    keys.by(me) = KeyLedger();
    valid_until.by(me) = Instant{};
    granted_at.by(me) = never;
    round.by(me).reset();
    lease_ = Lease();
  }

 private:
  /// The part that most claims do not have.
  struct Special {
    SpecialTerms terms;
    Fencing fencing;
  };
  void replace_terms(const SpecialTerms& terms) {
    is_special_ = !terms.none();
    if (is_special_) special().terms = terms;
  }
  Special& special() {
    if (!special_) special_ = std::make_unique<Special>();
    return *special_;
  }

  bool is_fenced_ = false;   // a fencing token was requested
  bool is_special_ = false;  // some special term is set
  bool downgraded_ = false;
  std::unique_ptr<Special> special_;  // kept for the next use of this slot
  Lease lease_;
};

}  // namespace redlock::core
