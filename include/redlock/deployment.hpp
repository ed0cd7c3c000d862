#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

/// A deployment as a whole: examining its nodes, opening it, and changing its members.
namespace redlock {

/// Where a node stands, by its own marker and those of the others.
struct MemberReport {
  enum class State {
    member,       ///< votes, unless it is quarantined
    joining,      ///< a change that begins with it is not finished
    opening,      ///< bootstrap, or the clients, have not finished to open the deployment
    blank,        ///< has forgotten what it belonged to, or is new; the others take it back
    unmarked,     ///< has no marker: no client has met it since it lost its data or was started
    removed,      ///< belongs to a deployment that has replaced or removed it
    unreachable,  ///< does not answer, or is no fit node
  };

  std::string url{};  ///< without user and password
  State state = State::unmarked;
  std::string problem{};     ///< unreachable: why
  std::string deployment{};  ///< the id that it carries
  /// How long it has no vote for new leases; `forever` where somebody took the end away.
  std::chrono::nanoseconds quarantine{0};
};

/// "member", "joining", …
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(MemberReport::State state) noexcept;

/// What one node says of itself. What it did not tell is empty or none.
struct NodeExamination {
  std::string url{};  ///< without the password
  bool reachable = false;
  std::string problem{};  ///< not reachable: why; reachable, but tells nothing: why
  std::chrono::nanoseconds round_trip{0};  ///< the shortest of a few
  std::string version{};
  std::string role{};  ///< "master", "slave", "sentinel"
  std::string run_id{};
  std::optional<std::chrono::seconds> uptime{};
  std::string persistence{};  ///< "none", "rdb", "aof everysec", "aof always", …
  bool durable = false;       ///< it writes every command to disk before it answers
  std::string maxmemory_policy{};
  bool cluster = false;
  bool loading = false;
  std::optional<std::chrono::nanoseconds> clock_offset{};  ///< from the median of all nodes
  bool marked = false;                                     ///< it belongs to a deployment
  /// Where it stands, by its own marker alone; unreachable: see `problem`.
  MemberReport::State membership = MemberReport::State::unmarked;
  std::size_t replicas = 0;  ///< attached to it
  bool restarted = false;    ///< since then: the next client to connect puts it into quarantine
  /// How long it has no vote for new leases; `forever` where somebody took the end away.
  std::chrono::nanoseconds quarantine{0};
};

/// Something that is wrong. `not-durable` is reported only where the restart guard is off, or
/// trusts durable nodes: with it, a node that may forget is fine by design.
struct Finding {
  std::string node{};  ///< the node's URL; of several, separated by ", "
  /// unreachable, duplicate, replica, cluster, sentinel, evicting, loading, not-durable, clock,
  /// quarantined, membership, version, auth, fencing-floor
  std::string id{};
  std::string what{};
  std::string why{};   ///< why it matters
  std::string mend{};  ///< what to do about it
};

struct Examination {
  std::vector<NodeExamination> nodes{};  ///< in the order in which they were configured
  std::vector<Finding> findings{};       ///< none: all is well
};

/// Asks every node what it is, changes nothing. Blocks for a few round trips, at most the longest
/// node limit per node, all at once. What is wrong with a node is a finding and no error. Errors:
/// invalid_argument; limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<Examination> examine(const ClientOptions& options);

/// Which nodes belong together, by their own markers.
struct Membership {
  std::string deployment{};             ///< the id; empty: no node belongs to a deployment
  std::vector<std::string> members{};   ///< sorted
  std::vector<MemberReport> nodes{};    ///< the members, and the nodes that were asked beside them
  std::chrono::milliseconds max_ttl{};  ///< the longest lease
  /// How to resume the change that is under way, as arguments of `quorum-lock`: "members replace
  /// OLD NEW". Empty: none is.
  std::string resume{};
};

/// What a change of the members does next. `what` is for people.
struct ChangeProgress {
  enum class Kind {
    waiting,  ///< for `left`, or for the node; told once for each node and reason
    writing,  ///< the marker of the node, next
  };
  Kind kind = Kind::waiting;
  std::string node{};
  std::string what{};
  std::optional<std::chrono::nanoseconds> left{};  ///< none: unknown
};

struct ChangeOptions {
  /// Called on the calling thread. What it throws ends the call; the change can be resumed.
  std::function<void(const ChangeProgress&)> on_progress{};

  /// Ends the call with `cancelled`; the change can be resumed.
  std::stop_token stop{};

  /// How long to wait, in the midst of a change, for a node that does not answer or is unfit.
  std::chrono::nanoseconds patience = std::chrono::seconds{10};

  /// `bootstrap` only: nodes that look new are not, they lost their data. All nodes have no vote
  /// until every lease that they may have forgotten has ended.
  bool after_loss = false;
};

/// Who belongs to the deployment. Asks the nodes of the options and all members that their markers
/// name, and changes nothing. Nodes that are known from markers only are reached with the
/// credentials and TLS files of the options.
[[nodiscard]] REDLOCK_EXPORT Result<Membership> members(const ClientOptions& options);

/// Change the members, one node at a time. In this version clients do not follow a change: stop
/// those with the old list before it, and start them with the new one. URLs may carry credentials.
/// Where a call ends early, also by the death of the process, the same call resumes the change, and
/// finishing it is the only way on.
///
/// They wait until every lease from before the last change has ended (max TTL and its drift), and
/// for members in quarantine. `replace_member` can replace a node that is gone; the other members
/// must be there. Errors: invalid_argument; unavailable, naming the node or the other change that
/// is under way, and how to resume; cancelled; limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<Membership> replace_member(const ClientOptions& options,
                                                               const std::string& leaving,
                                                               const std::string& entering,
                                                               const ChangeOptions& change = {});
[[nodiscard]] REDLOCK_EXPORT Result<Membership> add_member(const ClientOptions& options,
                                                           const std::string& entering,
                                                           const ChangeOptions& change = {});
[[nodiscard]] REDLOCK_EXPORT Result<Membership> remove_member(const ClientOptions& options,
                                                              const std::string& leaving,
                                                              const ChangeOptions& change = {});

/// Opens a deployment: marks every node as a member, in two phases. Refused, and nothing is
/// changed, unless every node answers, is a fit one, and holds nothing that can be a lock: a string
/// whose expiry is within max TTL, the old or the new, or later with one of our tokens, and holds
/// of readers and owners. Refused as well while a change of the members is under way, and when a
/// node belongs to a deployment of which the list leaves out a quorum.
///
/// New nodes vote at once. Where a node belonged to a deployment before, or
/// `ChangeOptions::after_loss` is set, all have no vote until every lease that may have been granted
/// before has ended. Nodes that all lost their data cannot be told from new ones: set `after_loss`
/// for them. A deployment that is open already is
/// left as it is. Blocks for as long as it takes to look through all keys. May be repeated after a
/// crash. Errors: invalid_argument; unavailable, naming the nodes and why; held, naming the key;
/// cancelled; limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<Examination> bootstrap(const ClientOptions& options,
                                                           const ChangeOptions& change = {});

}  // namespace redlock
