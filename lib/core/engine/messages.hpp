#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/claim/holds.hpp"
#include "core/nodes/capabilities.hpp"
#include "core/nodes/node_set.hpp"
#include "core/time.hpp"
#include "redlock/error.hpp"
#include "redlock/token.hpp"

/// What goes into the engine: the events. What comes out of it: commands.hpp.
namespace redlock::core {

/// Names a call of the driver's; the engine only hands it back. Zero: nobody waits for the answer.
enum class CallId : std::uint64_t { none = 0 };

/// Whether clients besides this one wait for a resource, as far as a holder knows.
enum class OtherClients : std::uint8_t { unknown, none, waiting };

/// Names a claim: one token and everything it may have left on the nodes. A stale one is
/// recognised by its generation.
struct ClaimId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;  // 0: names none
  friend bool operator==(ClaimId, ClaimId) = default;
};

/// What is asked of a node.
enum class Verb : std::uint8_t {
  set,                 ///< SET resource token NX PX ttl
  set_and_ttl,         ///< the same, and PTTL behind it: for a caller that waits for the holder
  set_fenced,          ///< SET, the number there is, ours if it is higher, and whose key it is then
  set_fenced_and_ttl,  ///< the same, and PTTL behind it
  set_fenced_short,    ///< the same without the number there is: only whether ours was higher
  set_fenced_short_and_ttl,  ///< the same, and PTTL behind it
  take,         ///< the same by a script, which costs the node more: also several resources, all or
                ///< none, and where readers are in the way
  take_permit,  ///< one of several keys; a refusal names those that are free
  enter,        ///< a hold of a resource that others of the same group may hold too
  raise_fence,  ///< a higher number for a key that is ours
  extend,       ///< raise the expiry of our key
  extend_or_set,  ///< and give the key back to a node that lost it
  release,        ///< compare and delete
  break_lock,     ///< compare, and keep everybody out for a while
  // Plain commands in the place of scripts, where the node knows them: see Sender.
  release_plain,          ///< DELIFEQ, and whether anybody is queued
  extend_plain,           ///< SET IFEQ: never for less time than before
  repair_plain,           ///< the same, and SET NX behind it
  raise_plain,            ///< what is behind the SET of set_fenced
  set_all,                ///< MSETEX NX of several resources, and whose they are
  notify,                 ///< the clients that are queued, behind a release_plain
  inspect,                ///< holder and remaining TTL
  expire_orphan,          ///< an expiry for a key that has none
  kill_old,               ///< CLIENT KILL of the connection before this one; of no claim
  read_clock,             ///< TIME; of no claim
  read_evictions,         ///< how many keys the server has evicted; of no claim
  prune_fencing_numbers,  ///< forget what was numbered days ago; of no claim
  join_queue,             ///< be queued for a key, to be notified in turn; of no claim
  leave_queue,            ///< of no claim
  track,                  ///< notify us of the next change of a key; of no claim
  read_marker,            ///< GET of the marker, behind votes or to confirm it; of no claim
  read_floor_and_marker,  ///< the same, and ahead of it the floor of fencing numbers; of no claim
  write_marker,           ///< compare-and-set of the marker, by mark.lua; of no claim
  mark_plain,             ///< the same by a transaction; of no claim
  write_name,             ///< the client's name, for people; of no claim
  write_audit,            ///< which lock an operator broke, behind its release
};
inline constexpr std::size_t verbs = static_cast<std::size_t>(Verb::write_audit) + 1;

/// For people, in the order of the enumerators.
inline constexpr std::array<std::string_view, verbs> verb_names{
    "set",
    "set-and-ttl",
    "set-fenced",
    "set-fenced-and-ttl",
    "set-fenced-short",
    "set-fenced-short-and-ttl",
    "take",
    "take-permit",
    "enter",
    "raise-fence",
    "extend",
    "extend-or-set",
    "release",
    "break-lock",
    "release-plain",
    "extend-plain",
    "repair-plain",
    "raise-plain",
    "set-all",
    "notify",
    "inspect",
    "expire-orphan",
    "kill-old",
    "read-clock",
    "read-evictions",
    "prune-fencing-numbers",
    "join-queue",
    "leave-queue",
    "track",
    "read-marker",
    "read-floor-and-marker",
    "write-marker",
    "mark-plain",
    "write-name",
    "write-audit",
};
[[nodiscard]] constexpr std::string_view name_of(Verb verb) noexcept {
  return verb_names[static_cast<std::size_t>(verb)];
}

/// A set of verbs: asked for with every request and answer.
class Verbs {
 public:
  template <typename... Several>
  constexpr explicit Verbs(Several... each) noexcept : bits_((bit(each) | ... | 0U)) {}
  [[nodiscard]] constexpr bool has(Verb verb) const noexcept { return (bits_ & bit(verb)) != 0; }
  friend constexpr Verbs operator|(Verbs a, Verbs b) noexcept {
    Verbs both;
    both.bits_ = a.bits_ | b.bits_;
    return both;
  }

 private:
  static_assert(verbs <= 64, "a verb is one bit");
  [[nodiscard]] static constexpr std::uint64_t bit(Verb verb) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(verb);
  }
  std::uint64_t bits_ = 0;
};

namespace verb_sets {

inline constexpr Verbs taking_scripts(Verb::take, Verb::take_permit, Verb::enter);
inline constexpr Verbs short_fenced_sets(Verb::set_fenced_short, Verb::set_fenced_short_and_ttl);
inline constexpr Verbs fenced_sets =
    short_fenced_sets | Verbs(Verb::set_fenced, Verb::set_fenced_and_ttl);
inline constexpr Verbs sets =
    taking_scripts | fenced_sets | Verbs(Verb::set, Verb::set_and_ttl, Verb::set_all);
inline constexpr Verbs marker_readings(Verb::read_marker, Verb::read_floor_and_marker);
inline constexpr Verbs extends(Verb::extend, Verb::extend_or_set, Verb::extend_plain,
                               Verb::repair_plain);
inline constexpr Verbs raises(Verb::raise_fence, Verb::raise_plain);
inline constexpr Verbs releases(Verb::release, Verb::break_lock, Verb::release_plain);
inline constexpr Verbs votes = sets | raises | extends;
inline constexpr Verbs marker_writes(Verb::write_marker, Verb::mark_plain);
inline constexpr Verbs about_queue(Verb::join_queue, Verb::leave_queue);
inline constexpr Verbs upkeeps = marker_writes | marker_readings | about_queue |
                                 Verbs(Verb::kill_old, Verb::read_clock, Verb::read_evictions,
                                       Verb::prune_fencing_numbers, Verb::track, Verb::write_name);
inline constexpr Verbs writes = extends | releases | Verbs(Verb::expire_orphan, Verb::notify);

}  // namespace verb_sets

/// Asks for the lock by a script.
[[nodiscard]] constexpr bool is_taking_script(Verb verb) noexcept {
  return verb_sets::taking_scripts.has(verb);
}
/// Asks for the lock.
[[nodiscard]] constexpr bool is_set(Verb verb) noexcept { return verb_sets::sets.has(verb); }
/// Raises the expiry of a key.
[[nodiscard]] constexpr bool is_extend(Verb verb) noexcept { return verb_sets::extends.has(verb); }
/// Deletes our key.
[[nodiscard]] constexpr bool is_release(Verb verb) noexcept {
  return verb_sets::releases.has(verb);
}
/// Gives the key to a node that lost it.
[[nodiscard]] constexpr bool is_repair(Verb verb) noexcept {
  return verb == Verb::extend_or_set || verb == Verb::repair_plain;
}
/// Raises the fencing number of a key that is ours.
[[nodiscard]] constexpr bool is_raise(Verb verb) noexcept { return verb_sets::raises.has(verb); }
/// By commands of their own, where take and raise_fence are scripts.
[[nodiscard]] constexpr bool is_set_fenced(Verb verb) noexcept {
  return verb_sets::fenced_sets.has(verb);
}
/// Its answer does not name the number that there was before. What the node has forgotten is not
/// above its floor, which is read behind it.
[[nodiscard]] constexpr bool is_short(Verb verb) noexcept {
  return verb_sets::short_fenced_sets.has(verb);
}
/// Its answer names the number that there was before, or the floor, and whose key it was at the
/// end.
[[nodiscard]] constexpr bool is_divided(Verb verb) noexcept {
  return is_set_fenced(verb) || verb == Verb::raise_plain;
}
/// Reads the marker behind votes, or to confirm it.
[[nodiscard]] constexpr bool is_marker_reading(Verb verb) noexcept {
  return verb_sets::marker_readings.has(verb);
}
/// A plain command that compares whose key it is: its answer may say it in other words than the
/// script's.
[[nodiscard]] constexpr bool is_comparison(Verb verb) noexcept {
  return verb == Verb::release_plain || verb == Verb::extend_plain || verb == Verb::repair_plain;
}
/// Of no claim: the stamp's index names the key.
[[nodiscard]] constexpr bool is_about_queue(Verb verb) noexcept {
  return verb_sets::about_queue.has(verb);
}
/// What a tracked key is. In a stamp: its round.
enum class Tracked : std::uint8_t {
  resource,  ///< the key of a resource
  queue,     ///< the queue of clients that wait for it
};

/// Replaces a marker.
[[nodiscard]] constexpr bool is_marker_write(Verb verb) noexcept {
  return verb_sets::marker_writes.has(verb);
}
/// Belongs to no claim: nobody waits for the answer.
[[nodiscard]] constexpr bool is_upkeep(Verb verb) noexcept { return verb_sets::upkeeps.has(verb); }
/// Its answer counts only if the node's marker is unchanged behind it: what was forgotten before
/// the request was executed may be somebody else's vote.
[[nodiscard]] constexpr bool is_vote(Verb verb) noexcept { return verb_sets::votes.has(verb); }

/// Changes the key of a resource, or ends it, whatever is asked for next.
[[nodiscard]] constexpr bool is_write(Verb verb) noexcept { return verb_sets::writes.has(verb); }

/// How a script is sent: by its digest, or in full where the node said that it does not know it.
enum class ScriptForm : std::uint8_t { digest, text };

/// Names one request on one connection. The answer comes back with the same stamp, so that a
/// duplicate, stale or late answer cannot be counted for another round.
struct Stamp {
  ClaimId claim{};
  std::uint16_t round = 0;
  Verb verb = Verb::set;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};
/// Of a request that belongs to no claim.
[[nodiscard]] constexpr Stamp upkeep(Verb verb, std::uint16_t round = 0) noexcept {
  return {{}, round, verb};
}

/// What a node answered, classified: every reply of a server has exactly one of these.
enum class Reply : std::uint8_t {
  granted,   ///< set: the key is ours now; fenced: and so is the number; numbered: `text`
             ///< is whose key it was at the end, `number` what there was before ours; enter:
             ///< `holds` of the group
  behind,    ///< fenced: the key is ours, its number is not below `number`
  taken,     ///< the key is somebody else's: `text` the holder where known, `remaining`;
             ///< take_permit: `text` is a digit for each permit, 1 where it is free; join_queue:
             ///< we are queued; track: it is there, or somebody is queued
  extended,  ///< the key was ours, its expiry is now at least what was asked; `holds` where
             ///< it is one of several
  repaired,  ///< the key was gone and is ours again
  gone,      ///< there is no key; join_queue: we are queued all the same; track: nobody is queued
  released,  ///< the key was ours and is deleted; of this and of the other answers to a
             ///< release: `holds` that are left where it was shared
  found,     ///< inspect: `text` the holder, `remaining` its TTL; with `holds`, `text` is
             ///< their group and tokens, see take_text()
  done,      ///< kill_old, expire_orphan, prune_fencing_numbers, leave_queue, write_name,
             ///< write_audit; read_evictions: `number` is how many
  marker,    ///< read_marker, write_marker: `text` is the node's marker, empty where there
             ///< is none; write_marker: `time` is what is left of its quarantine;
             ///< read_floor_and_marker: `number` is the floor, 0 where there is none
  clock,     ///< read_clock: `time` is the node's wall clock
  script_missing,  ///< NOSCRIPT: nothing was executed
  script_needed,   ///< to a plain command, and nothing was executed: a script would know more
  error,           ///< nothing was executed, `text` is the server's message
  failed,          ///< the connection ended with the request unanswered: executed or not
};

/// A set of them.
class Replies {
 public:
  constexpr Replies(std::initializer_list<Reply> replies) noexcept {
    for (const Reply reply : replies) bits_ |= bit(reply);
  }
  [[nodiscard]] constexpr bool has(Reply reply) const noexcept { return (bits_ & bit(reply)) != 0; }

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Reply reply) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(reply);
  }
  std::uint32_t bits_ = 0;
};

// --- events ---------------------------------------------------------------------------------

struct RenewalLimits {
  std::uint64_t max_renewals = 0;
  Duration max_hold{};
  bool in_background = true;  ///< false: no renewal; they bind extends by hand
};
struct Acquire {
  CallId request{};
  std::string_view resource;
  Duration ttl{};
  Duration wait{};
  bool tell_remaining = false;
  using Renewal = RenewalLimits;
  std::optional<Renewal> renewal{};
  /// A fencing token is wanted: the caller's wall clock less its CLOCK_BOOTTIME.
  std::optional<Duration> fencing{};
  std::optional<Duration> orphan_ttl{};
  std::span<const std::string> more_resources{};  ///< more resources: all or none
  std::string_view group{};   ///< who may hold it at the same time; empty: nobody else
  Duration hold_at_least{};   ///< for how long nobody else may have it, held or not
  std::string_view name{};    ///< stored behind the token
  std::uint32_t permits = 0;  ///< take one of so many; 0: the resource itself
};
struct Extend {
  CallId request{};
  ClaimId claim{};
  Duration ttl{};
};
struct Release {
  CallId request{};
  ClaimId claim{};
};
/// Ends ownership and leaves the keys.
struct Detach {
  ClaimId claim{};
};
struct ExtendToken {
  CallId request{};
  std::string_view resource;
  Token token{};
  Duration ttl{};
  std::span<const std::string> more_resources{};  ///< of the same token: all or none
};
/// As ExtendToken, and what comes of it is a lease: Acquired or Failed.
struct Adopt {
  CallId request{};
  std::string_view resource;
  Token token{};
  Duration ttl{};
  std::span<const std::string> more_resources{};  ///< of the same token: all or none
  std::string_view group{};                       ///< as in Acquire
  RenewalLimits renewal{};
  std::uint64_t fencing_number = 0;  ///< that the lease has; 0: none
};
struct ReleaseToken {
  CallId request{};
  std::string_view resource;
  Token token{};
  bool by_operator = false;                       ///< nodes that deleted it remember who did
  Duration delay{};                               ///< and for so long nobody may have it there
  std::span<const std::string> more_resources{};  ///< of the same token
};
struct Inspect {
  CallId request{};
  std::string_view resource;
  Token token{};  ///< is it among those that hold? Empty: nobody asks
};
/// Inspects now and after every change, until it is cancelled: each time it is answered by
/// Inspected, at the end by Failed.
struct Observe {
  CallId request{};
  std::string_view resource;
  Duration poll_interval{};  ///< where too few nodes notify us of changes
};
/// Whether other clients wait for what a lease holds is to be known: QueueWatched follows.
struct WatchQueue {
  ClaimId claim{};
};
struct Cancel {
  CallId request{};
};
struct Answer {
  NodeIndex node = 0;
  Stamp stamp{};
  Reply reply = Reply::failed;
  std::string_view text{};
  std::optional<Duration> remaining{};
  std::uint64_t number = 0;  ///< fenced: the node's; inspect: the same
  std::optional<Holds> holds{};
  Duration time{};  ///< read_clock; inspect, write_marker: what is left of a quarantine
  /// inspect: names, the queue, and what operators did; as inspect.lua has it, well-formed.
  std::string_view for_people{};
  bool queued = false;  ///< release_plain: somebody is queued for the resource
  /// join_queue, take: where we are queued now; 0: ahead of all tickets, or not at all.
  std::int64_t ticket = 0;
  bool is_first = false;  ///< in that queue
};
/// A node's answer that says yes and nothing else, or what its clock shows.
struct Assent {
  Stamp stamp{};
  Reply reply = Reply::granted;  ///< or extended, released, marker, or clock
  Duration time{};               ///< clock: see Answer
};
/// What one node answered, in its order: most answers by far, and many of them arrive together. As
/// if each had come in an Answer of its own.
struct Assents {
  NodeIndex node = 0;
  std::span<const Assent> answers{};
  std::string_view marker{};  ///< the text of all answers that are a marker
};
/// A connection is ready for requests. `server` is the server's run_id: it changes with every start
/// of the server's process; `connection` is what CLIENT ID answered.
struct NodeUp {
  NodeIndex node = 0;
  std::string_view server;
  std::int64_t connection = 0;
  /// What the handshake showed that it can do.
  Capabilities capabilities{Capability::run_scripts};
  /// Why it has no vote as long as this connection lasts; empty where it has one.
  std::string_view ineligible{};
  /// How many keys it has evicted.
  std::uint64_t evicted = 0;
  /// It is a replica, which may become a master again.
  bool replica = false;
  /// The node's membership record, word for word (marker.hpp); empty: it has none.
  std::string_view marker{};
  /// The marker is missing, or is not of this server process in its role. The handshake left it so:
  /// see Connect::marks.
  bool unmarked = false;
  /// How long it has none for new leases, and why.
  Duration quarantine{};
  std::string_view quarantine_why{};
};
/// A connection ended or could not be made. The driver does not answer the requests that were
/// open on it: the engine knows them.
struct NodeDown {
  NodeIndex node = 0;
  enum class Cause : std::uint8_t { unreachable, error } cause = Cause::unreachable;
  std::string_view why;
};
/// Notifications of the node arrive from now on, or still do; follows a Subscribe or a
/// ProbeSubscription.
struct Subscribed {
  NodeIndex node = 0;
};
/// `key` was given up at the node just now.
struct Notification {
  NodeIndex node = 0;
  std::string_view key;
  std::uint32_t before = 0;  ///< waiters ahead of us that were notified too
};
/// Notifications of the node do not arrive any more; also instead of Subscribed.
struct Unsubscribed {
  NodeIndex node = 0;
};
/// A key that the node was asked to track was written, deleted or has expired, by another client's
/// doing. The node notifies us once for each Verb::track.
struct Changed {
  NodeIndex node = 0;
  Tracked kind = Tracked::resource;
  std::string_view key;
};
/// Harmless when nothing was due.
struct TimePassed {};
/// All that was commanded until now leaves in one write per node: the request that covers its votes
/// comes last. Harmless where Engine::uncovered() is empty.
struct TurnEnd {};
/// Ends all requests, releases all leases; answered by Drained.
struct Shutdown {
  Duration grace{};
};

using Event =
    std::variant<Acquire, Extend, Release, Detach, ExtendToken, Adopt, ReleaseToken, Inspect,
                 Observe, WatchQueue, Cancel, Answer, Assents, NodeUp, NodeDown, Subscribed,
                 Notification, Unsubscribed, Changed, TimePassed, TurnEnd, Shutdown>;

}  // namespace redlock::core
