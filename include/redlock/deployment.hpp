#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
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

/// A deployment as a whole: checking its nodes, opening it, and changing its members.
namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {

/// The membership of a node, by its own marker and those of the others.
struct REDLOCK_EXPORT MemberReport {
  enum class State {
    member,       ///< votes, unless it is quarantined
    joining,      ///< an operator adds it, and has not finished
    opening,      ///< bootstrap, or the clients, have not finished opening the deployment
    blank,        ///< has forgotten its deployment, or is new; the other members take it back
    unmarked,     ///< has no marker: no client has met it since it lost its data or was started
    removed,      ///< belongs to a deployment that has replaced or removed it
    unreachable,  ///< does not answer, or cannot be a node
  };

  std::string url{};  ///< at which it was asked, without user and password
  State state = State::unmarked;
  std::string problem{};     ///< unreachable: why
  std::string deployment{};  ///< the id in its marker
  /// Its URL by its own marker: the member that it is. Clients may use another one.
  std::string member{};
  /// How long it has no vote for new leases. `forever`: the quarantine key has lost its expiry.
  std::chrono::nanoseconds quarantine{0};
  /// A replicated node: the address of its primary; empty: it is none, or not known.
  std::string primary{};
  bool listed = false;  ///< the options name the server, by this URL or another one
};

/// "member", "joining", …
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(MemberReport::State state) noexcept;

/// A server of a replicated node, as the node's primary reports it.
struct REDLOCK_EXPORT ServerCheck {
  std::string address{};  ///< "10.0.0.7:6379"; empty: not known
  bool primary = false;
  /// Of a replica, as Redis says it: "online" if it has had a first copy of the data. Of the
  /// primary: empty.
  std::string state{};
  std::uint64_t offset = 0;                   ///< of the replication: how far it has come
  std::uint64_t behind = 0;                   ///< bytes that the replica has not acknowledged
  std::optional<std::chrono::seconds> lag{};  ///< since the replica's last acknowledgement
};

/// The reign of a replicated node's primary. A node votes while a majority of its servers has
/// followed its primary without a break: see tools/docs/design/reigns.md.
struct REDLOCK_EXPORT ReignCheck {
  std::size_t servers = 0;  ///< as many as its URL says
  bool stands = false;
  std::string why_not{};  ///< stands: empty
  /// Since a client saw a majority follow; a quarantine of max TTL began then. None: none has.
  std::optional<std::chrono::nanoseconds> confirmed_for{};
  std::size_t acknowledged = 0;     ///< replicas that acknowledged a write
  std::size_t needed = 0;           ///< replicas that have to
  std::size_t attached = 0;         ///< how often replicas have attached since the last record
  std::vector<ServerCheck> seen{};  ///< the primary first
};

/// The facts that one node reports about itself. A missing fact is empty, unknown or none.
struct REDLOCK_EXPORT NodeCheck {
  enum class Role {
    unknown,
    master,
    replica,   ///< Redis says "slave"
    sentinel,  ///< no data server
  };
  /// How data survives a restart, and how soon a command is written to disk.
  enum class Persistence {
    unknown,
    none,
    rdb,           ///< snapshots
    aof,           ///< an append-only file; the server does not say when it is synced
    aof_no,        ///< synced when the system likes
    aof_everysec,  ///< synced every second
    aof_always,    ///< synced before each answer
  };

  std::string url{};  ///< without the password
  bool reachable = false;
  std::string problem{};                   ///< why it is not reachable, or reports nothing
  std::chrono::nanoseconds round_trip{0};  ///< the shortest of several
  std::string version{};         ///< of Redis; a fork names the one that it is compatible with
  std::string server{};          ///< "Redis", "Valkey", "Redict"; empty: it did not say
  std::string server_version{};  ///< its own
  Role role = Role::unknown;
  std::string run_id{};
  std::optional<std::chrono::seconds> uptime{};
  Persistence persistence = Persistence::unknown;
  bool durable = false;  ///< writes every command to disk before it answers
  std::string maxmemory_policy{};
  std::optional<std::uint64_t> used_memory{};  ///< bytes
  std::optional<std::uint64_t> max_memory{};   ///< bytes; 0: no limit
  bool cluster = false;
  bool loading = false;
  std::optional<std::chrono::nanoseconds> clock_offset{};  ///< from the median of all nodes
  bool marked = false;                                     ///< belongs to a deployment
  /// By its own marker alone. Unreachable: see `problem`.
  MemberReport::State membership = MemberReport::State::unmarked;
  /// As MemberReport::member.
  std::string member{};
  std::size_t replicas = 0;  ///< attached to it
  bool restarted = false;    ///< since its marker was written: see `Finding::remedy`
  /// How long it has no vote for new leases. `forever`: the quarantine key has lost its expiry.
  std::chrono::nanoseconds quarantine{0};
  /// Members name it, and it has lost its data.
  bool forgot = false;
  /// It has a vote for new leases now, as clients with these options count it.
  bool votes = false;
  std::optional<ReignCheck>
      reign{};  ///< none: it is no replicated node, or its primary did not say
};

/// Redis's name for it with "replica" for "slave": "master", "replica", "sentinel", "unknown".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(NodeCheck::Role role) noexcept;
/// "none", "rdb", "aof everysec", …
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(
    NodeCheck::Persistence persistence) noexcept;

/// Something that is wrong.
struct REDLOCK_EXPORT Finding {
  enum class Kind {
    unreachable,
    auth,              ///< the credentials are wrong, or the user lacks rights
    duplicate,         ///< several URLs of one server
    replica,           ///< the server is a replica
    cluster,           ///< the server is part of a Redis Cluster
    sentinel,          ///< the server is a Redis Sentinel
    evicting,          ///< the server removes keys when memory is short
    loading,           ///< the server reads its data from disk
    old_version,       ///< the server is too old
    not_durable,       ///< reported only if the restart guard is off or trusts durable nodes: with
                       ///< the guard, a node that may forget is fine by design
    clock,             ///< its clock is too far from the median of all clocks
    fencing_floor,     ///< its fencing numbers are ahead of the clocks
    replicas,          ///< replicas are attached
    membership,        ///< blank, or with another max TTL than the options
    quarantined,       ///< it has no vote for new leases
    not_bootstrapped,  ///< no node has a marker
    other_deployment,  ///< nodes belong to different deployments, or a change is not finished
    stale_client,      ///< the list of nodes is not the list of members
    tracking_table,    ///< the server keeps a large table of clients that had it track keys
    no_scripts,        ///< the server has neither EVAL nor a native compare-and-delete
    forgetting_commands,  ///< somebody has run commands that can make the node forget
    client_limit,         ///< nearly as many clients are connected as the server admits
    refuses_writes,       ///< the server refuses every write
    short_memory,         ///< the server uses nearly all the memory that it may use
    unreadable_marker,    ///< the key of the node's marker is something else
    reign,                ///< no majority of a replicated node's servers is known to follow
    missing_command,      ///< the server lacks a command that votes of a replicated node need
    replica_migration,    ///< the cluster may move a replica from one primary to another
  };

  std::string node{};  ///< the node's URL; several are separated by ", "
  Kind kind = Kind::unreachable;
  std::string what{};
  std::string why{};     ///< why it matters
  std::string remedy{};  ///< what to do about it
};

/// The identifier that `quorum-lock doctor` shows: "not-durable".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Finding::Kind kind) noexcept;

/// The result of `check`.
struct REDLOCK_EXPORT DeploymentCheck {
  /// In the order in which they were configured, then members that the options do not name, if
  /// clients find them.
  std::vector<NodeCheck> nodes{};
  std::vector<Finding> findings{};  ///< none: nothing is wrong
  /// How long until locks are granted: until a majority of the members is out of quarantine. Zero:
  /// now. `forever`: not before the key of a quarantine without end is deleted. None: too few
  /// members were found.
  std::optional<std::chrono::nanoseconds> granted_in{};
  std::size_t members = 0;  ///< of the deployment; if none is known, the number of nodes
  std::size_t quorum = 0;   ///< how many of them have to vote for a lease
};

/// Asks every node for its facts, and leaves nothing: to see whether a server takes writes, it sets
/// and deletes a key of its own, `redlock:node:check`, which expires after a second. Blocks for a
/// few round trips, at most the connect timeout and a few longest node timeouts, to all nodes at
/// once. A problem of a node is a finding, not an error. Members that the options do not name, and
/// that clients would find, are asked as well, with the credentials of the options. Errors:
/// invalid_argument; limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<DeploymentCheck> check(const ClientOptions& options);

/// The members of the deployment, by their own markers.
struct REDLOCK_EXPORT Membership {
  std::string deployment{};             ///< the id; empty: no node belongs to a deployment
  std::vector<std::string> members{};   ///< sorted
  std::vector<MemberReport> nodes{};    ///< the members, and the other nodes that were asked
  std::chrono::milliseconds max_ttl{};  ///< the longest lease
  /// The arguments of `quorum-lock` that resume an unfinished change: "members replace OLD NEW".
  /// Empty: there is none.
  std::string resume{};
};

/// The next step of a change of the members. `what` is for people.
struct REDLOCK_EXPORT ChangeProgress {
  enum class Kind {
    /// The call waits for `left`, or for the node; reported once for each node and reason. At the
    /// end of a `bootstrap`: `what` says why it did not end the quarantine of this node.
    waiting,
    writing,  ///< the call writes the marker of the node next
  };
  Kind kind = Kind::waiting;
  std::string node{};
  std::string what{};
  std::optional<std::chrono::nanoseconds> left{};  ///< none: unknown
};

/// The terms of a change of the members.
struct REDLOCK_EXPORT ChangeOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(ChangeOptions);

  /// Called on the calling thread. An exception that it throws ends the call and reaches the
  /// caller; the change can be resumed.
  std::function<void(const ChangeProgress&)> on_progress{};

  /// Ends the call with `cancelled`; the change can be resumed.
  std::stop_token stop{};

  /// How long to wait, in the midst of a change, for a node that does not answer or is ineligible.
  std::chrono::nanoseconds patience = std::chrono::seconds{10};

  /// `bootstrap` only: the nodes seem new, but have lost their data. No node votes until every
  /// lease that they may have forgotten has ended.
  bool after_loss = false;
};

/// Reads the membership of the deployment. Asks the nodes of the options and all members that their
/// markers name, and changes nothing. The client reaches nodes that only markers name with the
/// credentials and TLS files of the options. Blocks as `check` does. Errors: invalid_argument;
/// limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<Membership> members(const ClientOptions& options);

/// Change the members, one node at a time. Clients need not stop: those with the old list learn the
/// new members from the nodes (`NodeEvent::Kind::learned`), and can be given the new list later.
/// URLs may carry credentials. If a call ends early, or its process dies, the same call resumes the
/// change. A change that has begun has to be finished.
///
/// They block until every lease from before the last change has ended (max TTL and its drift), and
/// until members leave quarantine. `replace_member` can replace a node that is gone; the other
/// members must be reachable. Errors: invalid_argument; unavailable, naming the node or the
/// unfinished change, and how to resume; cancelled; limit_reached without a file descriptor.
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

/// Opens a deployment: marks every node as a member, in two phases. It is refused, and nothing is
/// changed, unless every node answers, is eligible, and stores nothing that can be a lock. The
/// holds of readers and owners can be locks, and so can a string that expires within max TTL (the
/// old or the new one), or later if it is one of the library's tokens. The call is also refused
/// while a change of the members is unfinished, and if a node belongs to a deployment of which the
/// list leaves out a quorum.
///
/// Unlike the command, the call does not ask. If the nodes are a deployment with other members or
/// another max TTL, it opens the new one in its place. Members that the list leaves out are
/// removed. `members` shows what the nodes are.
///
/// New nodes vote at once, even if clients have met and opened them before. If a node belonged to a
/// deployment before, or `ChangeOptions::after_loss` is set, no node votes until every lease that
/// may have been granted before has ended: `DeploymentCheck::granted_in` says when. Nodes that have
/// all lost their data cannot be distinguished from new ones: set `after_loss` for them. If the
/// nodes vote already, the call leaves the deployment as it is. If it finds a lock, it leaves the
/// quarantine as it is. Blocks while it scans all keys. Can be repeated after a crash. Errors:
/// invalid_argument; unavailable, naming the nodes and why; held, naming the key; cancelled;
/// limit_reached without a file descriptor.
[[nodiscard]] REDLOCK_EXPORT Result<DeploymentCheck> bootstrap(const ClientOptions& options,
                                                               const ChangeOptions& change = {});

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
