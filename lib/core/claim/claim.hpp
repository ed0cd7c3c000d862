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

#include "core/claim/fencing.hpp"
#include "core/claim/key_ledger.hpp"
#include "core/claim/lock_terms.hpp"
#include "core/claim/renewal.hpp"
#include "core/claim/round.hpp"
#include "core/claim/validity_basis.hpp"
#include "core/containers/pool_index.hpp"
#include "core/engine/messages.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"
#include "core/waiting/queue_place.hpp"
#include "support/assert.hpp"
#include "support/label.hpp"

namespace redlock::core {

/// By which the claims of a token are found.
[[nodiscard]] inline std::uint64_t hash_of(std::string_view token) noexcept {
  return std::hash<std::string_view>()(token);
}

/// One token and everything it may have left on the nodes, from the first SET until nothing of it
/// can be there any more. An attempt that fails, a lease, and a release that is still owed to a
/// node are the same thing at different ages: its *phases*. What it was made for, its *purpose*,
/// changes only if a lock that was extended by its token is adopted.
///
/// Anybody may read it. Who changes what, once Claims has made it (*hold* is engine_hold.cpp, and
/// so on):
///
/// | fields | are changed by |
/// |---|---|
/// | `purpose`, `by_operator` | *by_token* |
/// | `phase`, `task` | *acquire*, *hold*, *release*, *by_token* |
/// | `verb` | *acquire*, *hold*, *by_token* |
/// | `valid_until` | *acquire*, *hold*, *by_token*, *links* |
/// | `granted_at`, the terms | *acquire*, *by_token*; the terms: *hold* |
/// | `downgraded` | *hold*, *by_token* |
/// | `acquisition`, `contended` | *acquire* |
/// | `lease()` | *acquire*, *hold*, *links*; KeyNotes adds late nodes to the basis |
/// | `fencing()` | FencingTokens; KeyNotes adds to `asked`; *by_token* if it is adopted |
/// | `keys`: what was sent | Sender |
/// | `keys`: where they are | KeyNotes, Rounds, OwedReleases |
/// | `keys`: what is a vote | *acquire* begins, KeyNotes; Voters forgets votes that went |
/// | `keys`: what is owed | OwedReleases; *hold*, *release*, *by_token*, *links* |
/// | `round` | Voters begins it; Rounds, Voters, *hold*, *release* record; Rest keeps votes |
/// | `unanswered` | Sender adds, Rounds takes away |
/// | `unasked` | Rounds adds; *hold*, *release*, *by_token*, *links* |
/// | `touched` | Agenda sets it, engine.cpp clears it |
/// | `is_hold` | KeyNotes |
/// | `watches_queue` | QueueWatch |
/// | `work`, `idle` | Rest; what is in `work`: see there |
/// | `finished`, `label`, `by_token` | Claims |
struct Claim {
  enum class Purpose : std::uint8_t {
    acquire,  ///< an attempt, and the lease that may come of it
    extend,   ///< of somebody's lease, by its token
    release,  ///< of somebody's lease, by its token
    inspect,
  };
  enum class Phase : std::uint8_t {
    acquiring,    ///< the granting round is under way
    held,         ///< a lease
    by_token,     ///< a round about somebody else's token
    cleaning_up,  ///< over; waits for answers and for releases that are owed
  };
  /// What the current round is to decide; none once it has.
  enum class Task : std::uint8_t {
    none,
    meet_nodes,  ///< by token: nothing is asked before it is known whose votes count
    acquire,
    fence,  ///< the lock is ours, its fencing token is not decided
    extend,
    release,
    release_by_token,
    inspect,
  };
  /// A lease.
  struct Lease {
    ValidityBasis basis;  ///< what the deadline rests on
    Renewal renewal;
  };
  struct QueuedExtend {
    CallId request;
    Duration ttl;
  };
  /// What only a claim needs of which something is under way: a lease that nothing is asked for has
  /// none (`Rest::put_away`), and there may be a million of those. Who changes what in it:
  ///
  /// | fields | are changed by |
  /// |---|---|
  /// | `requests` | *hold*, *release*, *by_token*, engine.cpp; Observers |
  /// | `queued`, `downgrades` | *hold*, engine.cpp |
  /// | `steps` | *acquire*, *hold* |
  /// | `writer_reservation` | *acquire* |
  /// | `delay`, `adopted` | *by_token* |
  /// | `place` | *acquire*, as WaitQueue says; Sender adds to `nodes` |
  /// | `place.unanswered`, `place.again` | *acquire*; KeyNotes; OwedReleases, *hold* |
  /// | `in_full` | Sender; Rounds takes out a node that granted or released |
  /// | `deployment`, `ballot_found_at` | Voters |
  /// | `holds_left` | OwedReleases |
  /// | `observation` | Observers |
  /// | `votes` | Rest |
  struct Work {
    /// By verb: the script was sent in full, the node did not know its digest. Several may be
    /// unanswered at once: a release is sent behind whatever is.
    std::array<NodeSet, verbs> in_full{};
    SharedMarks steps;                  ///< the nodes' clocks when the round began
    std::string deployment;             ///< whose votes it counts: that of the ballot
    std::uint64_t ballot_found_at = 0;  ///< see Nodes::Ballot, as it was then
    QueuePlace place;
    Duration writer_reservation{};             ///< for how long new holds of others are refused
    Duration delay{};                          ///< release: see ReleaseToken
    std::optional<RenewalLimits> adopted{};    ///< extend: it becomes a lease, on these terms
    std::optional<std::uint32_t> holds_left;   ///< the most that a node counted at the release
    std::optional<std::uint32_t> observation;  ///< inspects for it
    std::vector<CallId> requests;              ///< waiting for the round
    std::vector<QueuedExtend> queued;          ///< extends asked for while one is under way
    std::vector<CallId> downgrades;            ///< the same of downgrades
    std::unique_ptr<Round::Votes> votes;       ///< of no round: while nobody has the work

    /// Makes it new, keeping what its members have allocated.
    void reset() {
      in_full.fill(NodeSet());
      steps.reset();
      place = QueuePlace();
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

  // Every answer reads from here to the votes: next to each other, that is what is in the cache.
  Purpose purpose = Purpose::inspect;
  Phase phase = Phase::cleaning_up;
  Task task = Task::none;
  bool finished = false;
  bool touched = false;           ///< to be judged before the step is over
  bool is_hold = false;           ///< by token: a node said that it is one of several
  bool by_operator = false;       ///< release: see ReleaseToken
  bool idle = false;              ///< among those whose work may be put away
  bool contended = false;         ///< its acquisition was refused before: others may wait as well
  bool watches_queue = false;     ///< its holder wants to know of other clients that wait
  bool is_fenced = false;         ///< a fencing token was asked for
  bool is_special = false;        ///< so was what most locks do not ask for
  bool downgraded = false;        ///< a reader's that was a writer's: nodes may still have that key
  Verb verb = Verb::set;          ///< what nodes that come up during the round are asked
  NodeSet unasked;                ///< first contact: asked as soon as they are up
  std::uint32_t acquisition = 0;  ///< of an attempt, and of what came of it
  std::uint32_t unanswered = 0;
  KeyLedger keys;  ///< what the token may have left on the nodes
  Instant valid_until{};
  Instant granted_at = never;  ///< never: it is none that became a lease

  // --- the current round ---
  Round round;
  std::unique_ptr<Work> work;

  support::Label label;
  PoolIndexPlace<std::uint32_t> by_token;

  [[nodiscard]] ClaimId id() const noexcept { return {index, generation}; }

  /// Of one permit: the permit's own key.
  [[nodiscard]] std::string_view resource() const noexcept { return label.resource(); }
  [[nodiscard]] std::string_view token() const noexcept { return label.token(); }
  /// They do not change while it lasts, unless it is downgraded.
  [[nodiscard]] const SpecialTerms& terms() const noexcept {
    return is_special ? special_->terms : plain_terms;
  }
  void set_terms(const SpecialTerms& terms) {
    is_special = !terms.none();
    if (is_special) special().terms = terms;
  }
  /// It counts as a reader's from now on, whatever the nodes will say.
  void downgrade() {
    SpecialTerms readers = terms();
    readers.group = readers_group;
    set_terms(readers);
    downgraded = true;
  }
  /// Of somebody else's lock no more is known.
  void set_more_resources(std::span<const std::string> more, std::string_view group = {}) {
    set_terms({{more.begin(), more.end()}, std::string(group), 0, {}, {}});
  }
  /// Whether it is about this resource too.
  [[nodiscard]] bool names(std::string_view one) const {
    const std::vector<std::string>& more = terms().more_resources;
    return resource() == one || std::find(more.begin(), more.end(), one) != more.end();
  }

  /// Only while it is held.
  [[nodiscard]] Lease& lease() noexcept {
    REDLOCK_ASSERT(phase == Phase::held);
    return lease_;
  }
  /// Of a lease, to another instant.
  void move_deadline(Instant to) noexcept {
    valid_until = to;
    lease().renewal.deadline_moved();
  }
  /// Null: no fencing token was asked for.
  [[nodiscard]] Fencing* fencing() noexcept { return is_fenced ? &special_->fencing : nullptr; }
  [[nodiscard]] const Fencing* fencing() const noexcept {
    return const_cast<Claim*>(this)->fencing();
  }
  [[nodiscard]] Fencing& begin_fencing() {
    is_fenced = true;
    return special().fencing = Fencing();
  }
  [[nodiscard]] bool was_granted() const noexcept { return granted_at != never; }
  /// A release that is repeated later does not queue us: the client may have left by then.
  // NOLINTNEXTLINE(readability-make-member-function-const): the work is a part of the claim
  void queue_no_more() noexcept {
    if (work) work->place.again = false;
  }
  /// Only while something is under way.
  [[nodiscard]] const QueuePlace& place() const noexcept { return work->place; }
  /// Of several resources, from 1 on.
  [[nodiscard]] std::string_view resource_at(std::uint64_t which) const {
    return which > 1 ? terms().more_resources[which - 2] : resource();
  }
  /// The place that a request carries; null: none.
  [[nodiscard]] const QueuePlace* place_in(Verb asked) const noexcept {
    if (!work || !work->place.as_client) return nullptr;
    const bool says = is_set(asked) || (asked == Verb::release && work->place.again);
    return says ? &work->place : nullptr;
  }
  [[nodiscard]] Duration writer_reservation() const noexcept {
    return work ? work->writer_reservation : Duration::zero();
  }
  /// Calls wait for the end of the round.
  [[nodiscard]] bool has_queued_calls() const noexcept {
    return work && !(work->queued.empty() && work->downgrades.empty());
  }

  /// A lease that nothing is asked for, and that every node has granted.
  [[nodiscard]] bool is_at_rest() const noexcept {
    return phase == Phase::held && task == Task::none && unanswered == 0 && unasked.empty() &&
           work && work->requests.empty() && !has_queued_calls() && round.is_unanimous();
  }

  /// For how long a release is to keep everybody out yet: nobody was in where nothing was granted.
  [[nodiscard]] Duration cooldown(Instant now) const {
    if (!was_granted()) return Duration::zero();
    return std::max(Duration::zero(), later(granted_at, terms().hold_at_least) - now);
  }
  /// For how long the nodes are to keep the key: its crashed holder keeps everybody out as well.
  [[nodiscard]] Duration time_to_ask(Verb asked, Instant now) const {
    if (asked == Verb::expire_orphan) return *terms().orphan_ttl;
    if (asked == Verb::break_lock) return work->delay;
    if (asked == Verb::downgrade) return Duration::zero();
    const Duration ttl =
        std::max(round.ttl(), was_granted() ? cooldown(now) : terms().hold_at_least);
    // A plain command sets the expiry, where the script only raises it.
    const bool plain = asked == Verb::extend_plain || asked == Verb::repair_plain;
    return plain ? std::max(ttl, keys.longest_asked()) : ttl;
  }

  /// By which its key leaves the nodes.
  [[nodiscard]] Verb release_verb() const noexcept {
    return work && work->delay > Duration::zero() ? Verb::break_lock : Verb::release;
  }

  /// Makes a reused slot new, keeping what its members have allocated.
  void reset(Purpose what_for) {
    purpose = what_for;
    phase = what_for == Purpose::acquire ? Phase::acquiring : Phase::by_token;
    task = Task::none;
    finished = touched = is_hold = by_operator = false;
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
  /// What most claims do not have.
  struct Special {
    SpecialTerms terms;
    Fencing fencing;
  };
  Special& special() {
    if (!special_) special_ = std::make_unique<Special>();
    return *special_;
  }

  std::unique_ptr<Special> special_;  // kept, to be used again
  Lease lease_;
};

}  // namespace redlock::core
