#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "core/vocabulary/capabilities.hpp"
#include "core/vocabulary/holds.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/reign_reading.hpp"
#include "core/vocabulary/stamp.hpp"
#include "core/vocabulary/time.hpp"
#include "core/vocabulary/verbs.hpp"
#include "redlock/error.hpp"
#include "redlock/token.hpp"

/// The engine's input: its events. Its output is in commands.hpp.
namespace redlock::core {

/// Identifies a call of the driver; the engine only returns it. Zero: nobody waits for the answer.
enum class CallId : std::uint64_t { none = 0 };

/// Whether other clients wait for a resource, as far as its holder knows.
enum class OtherClients : std::uint8_t { unknown, none, waiting };

/// The class of a node's answer: every reply of a server has exactly one.
enum class Reply : std::uint8_t {
  granted,   ///< set: the key is ours; fenced: the number is ours too; numbered: `text` is the
             ///< key's holder afterwards, `number` the number before; enter: `holds` of the group
  behind,    ///< fenced: the key is ours, but the node's number is already `number`
  taken,     ///< another client has the key: `text` is the holder if known, `remaining`;
             ///< take_permit: `text` has a digit per permit, 1: free; join_queue: we are queued;
             ///< track: the key exists, or a client is queued
  extended,  ///< the key was ours, its expiry is now at least the requested one; `holds` if it is
             ///< one of several
  repaired,  ///< the key was gone and is ours again
  gone,      ///< there is no key; join_queue: we are queued nevertheless; track: nobody is queued
  released,  ///< the key was ours and is deleted; all answers to the release of a shared lock:
             ///< `holds` that are left
  found,     ///< inspect: `text` the holder, `remaining` its TTL; with `holds`, `text` is
             ///< their group and tokens, see take_text()
  done,      ///< kill_old, expire_orphan, prune_fencing_numbers, leave_queue, write_name,
             ///< write_audit, write_reign; read_evictions: `number` is how many
  marker,    ///< read_marker, write_marker: `text` is the node's marker, empty: there is none;
             ///< write_marker: `time` is the rest of its quarantine; read_floor_and_marker,
             ///< read_reign: `number` is the floor, 0: there is none; read_reign: `reign`
  clock,     ///< read_clock: `time` is the node's wall clock
  script_missing,  ///< NOSCRIPT: nothing was executed
  script_needed,   ///< answer to a plain command, nothing was executed: a script is needed to
                   ///< decide
  error,           ///< nothing was executed, `text` is the server's message
  failed,          ///< the connection ended with the request unanswered: executed or not
};

/// A set of classes.
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
  bool in_background = true;  ///< false: no renewal; the limits apply to extends by the caller
};
struct Acquire {
  CallId request{};
  std::string_view resource;
  Duration ttl{};
  Duration wait{};
  bool wants_remaining = false;
  using Renewal = RenewalLimits;
  std::optional<Renewal> renewal{};
  /// A fencing token is wanted: the caller's wall clock less its CLOCK_BOOTTIME.
  std::optional<Duration> fencing{};
  std::optional<Duration> orphan_ttl{};
  std::span<const std::string> more_resources{};  ///< more resources: all or none
  std::string_view group{};   ///< the group that may hold it at the same time; empty: nobody else
  Duration interval{};        ///< minimum time until another client may hold it, even after a
                              ///< release
  std::string_view name{};    ///< stored after the token
  std::uint32_t permits = 0;  ///< size of the semaphore; 0: the lock is no permit
};
struct Extend {
  CallId request{};
  ClaimId claim{};
  Duration ttl{};
};
/// A writer's lease becomes a reader's. Answered by Extended, with the deadline that the lease has,
/// or by Failed.
struct Downgrade {
  CallId request{};
  ClaimId claim{};
};
/// Ends a lease, also one that is lost, and removes the keys.
struct Release {
  CallId request{};
  ClaimId claim{};
};
/// Ends a lease, also one that is lost in the meantime, and leaves the keys to their new owner.
struct Detach {
  ClaimId claim{};
};
struct ExtendToken {
  CallId request{};
  std::string_view resource;
  Token token{};
  Duration ttl{};
  std::span<const std::string> more_resources{};  ///< more resources of the token: all or none
};
/// Downgrade of the lease that has this token.
struct DowngradeToken {
  CallId request{};
  std::string_view resource;
  Token token{};
};
/// ExtendToken whose result is a lease. Answered by Acquired or Failed.
struct Adopt {
  CallId request{};
  std::string_view resource;
  Token token{};
  Duration ttl{};
  std::span<const std::string> more_resources{};  ///< more resources of the token: all or none
  std::string_view group{};                       ///< as in Acquire
  RenewalLimits renewal{};
  std::uint64_t fencing_number = 0;  ///< the lease's fencing token; 0: none
};
struct ReleaseToken {
  CallId request{};
  std::string_view resource;
  Token token{};
  bool by_operator = false;                       ///< nodes that delete the key store who broke the
                                                  ///< lock
  Duration delay{};                               ///< how long nobody may lock it on these nodes
                                                  ///< afterwards
  std::span<const std::string> more_resources{};  ///< more resources of the token
};
struct Inspect {
  CallId request{};
  std::string_view resource;
  Token token{};  ///< asks whether this token is among the holders; empty: nothing is asked
};
/// Inspects now and after every change, until it is cancelled: each time it is answered by
/// Inspected, at the end by Failed.
struct Observe {
  CallId request{};
  std::string_view resource;
  Duration poll_interval{};  ///< used if too few nodes notify us of changes
};
/// The holder wants to know whether other clients wait for the lease's resource: QueueWatched
/// follows.
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
  std::uint64_t number = 0;  ///< fenced, inspect: the node's fencing number; taken, of several
                             ///< resources: which one is in the way
  std::optional<Holds> holds{};
  Duration time{};  ///< read_clock: the node's clock; inspect, write_marker: the rest of a
                    ///< quarantine
  /// inspect: names, the queue, and locks that operators broke; as inspect.lua returns it,
  /// well-formed.
  std::string_view for_people{};
  bool queued = false;  ///< release_plain: a client is queued for the resource
  /// join_queue, take: our ticket now; 0: before all tickets, or not queued.
  std::int64_t ticket = 0;
  bool is_first = false;  ///< the client is the first in that queue
  ReignReading reign{};   ///< read_reign
};
/// A plain yes: an answer without details, or the node's clock.
struct PlainYes {
  Stamp stamp{};
  Reply reply = Reply::granted;  ///< or extended, released, marker, or clock
  Duration time{};               ///< clock: see Answer
};
/// Plain yeses of one node, in their order. Most answers are such, and many arrive together. Each
/// counts as if it had come in an Answer of its own.
struct PlainYeses {
  NodeIndex node = 0;
  std::span<const PlainYes> answers{};
  std::string_view marker{};  ///< the text of all answers that are a marker
};
/// A connection is ready for requests. `server` is the server's run_id: it changes with every start
/// of the server's process; `connection` is what CLIENT ID answered.
struct NodeUp {
  NodeIndex node = 0;
  std::string_view server;
  std::int64_t connection = 0;
  /// Abilities of the server, from the handshake.
  Capabilities capabilities{Capability::run_scripts};
  /// Why the node has no vote on this connection; empty: it has one.
  std::string_view ineligible{};
  /// How many keys the server has evicted.
  std::uint64_t evicted = 0;
  /// Its eviction policy is noeviction, in the same reading as `evicted`.
  bool keeps_keys = false;
  /// The server is a replica, which may become a master again.
  bool replica = false;
  /// The node's membership record, word for word (marker.hpp); empty: it has none.
  std::string_view marker{};
  /// A replicated node's record of its reign, word for word (reign.hpp), read before the marker and
  /// the quarantine; empty: it has none.
  std::string_view reign{};
  /// A replicated node: the address of the server that was reached; empty: not known.
  std::string_view primary{};
  /// The marker is missing, or is not of this server process in its role. The handshake left it so:
  /// see Connect::marks.
  bool unmarked = false;
  /// The marker is of this process, and holds a number of evictions that was reset since. The
  /// handshake left it so.
  bool outdated = false;
  /// How long the node has no vote for new leases, and why.
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
  std::uint32_t before = 0;  ///< waiters before us in the queue that were notified too
};
/// Notifications of the node no longer arrive; also sent instead of Subscribed.
struct Unsubscribed {
  NodeIndex node = 0;
};
/// A key that the node was asked to track has expired, or another client has written or deleted it.
/// The node notifies us once for each Verb::track.
struct Changed {
  NodeIndex node = 0;
  Tracked kind = Tracked::resource;
  std::string_view key;
};
/// Harmless when nothing was due.
struct TimePassed {};
/// All commands until now leave in one write per node, with the request that confirms its votes
/// last. Harmless if Engine::unproven() is empty.
struct TurnEnd {};
/// Ends all requests, releases all leases; answered by Drained.
struct Shutdown {
  Duration grace{};
};

using Event = std::variant<Acquire, Extend, Downgrade, Release, Detach, ExtendToken, DowngradeToken,
                           Adopt, ReleaseToken, Inspect, Observe, WatchQueue, Cancel, Answer,
                           PlainYeses, NodeUp, NodeDown, Subscribed, Notification, Unsubscribed,
                           Changed, TimePassed, TurnEnd, Shutdown>;

}  // namespace redlock::core
