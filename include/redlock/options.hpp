#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/callback.hpp"
#include "redlock/credentials.hpp"
#include "redlock/error.hpp"
#include "redlock/export.hpp"
#include "redlock/limits.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

class Observer;

/// A duration that never ends: wait until granted or stopped.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

/// TLS for nodes whose URL says `rediss://`. The server's certificate and host name are always
/// verified. Files are PEM. Files that have changed are read again at the next connection; while
/// the changed files cannot be used, the former ones stay in use: see NodeEvent::Kind::warning.
struct REDLOCK_EXPORT TlsOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(TlsOptions);

  std::string ca_file{};           ///< empty: the system's certificate store
  std::string certificate_file{};  ///< the client's own, for servers that ask for one
  std::string key_file{};          ///< belongs to certificate_file

  /// The name, or IP address, that servers' certificates must have, for `rediss://` URLs without
  /// `?server_name=`: it is also the name that is sent to the server (SNI). For nodes that are
  /// named by addresses which are not in their certificates. Empty: the host of the URL.
  std::string server_name{};
};

/// How the client talks to each node.
struct REDLOCK_EXPORT NodeOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(NodeOptions);

  /// How long the first attempt to connect to a node may take. Connecting takes four round trips,
  /// two more with TLS, and the time that the server needs to load the scripts. After each attempt
  /// that took too long, the limit doubles, up to eight times the first one. It includes the lookup
  /// of the host name, and all of its addresses. The client tries the next address when the last
  /// one has failed, or after 250 ms at most, and uses the first one that accepts. None:
  /// `longest_timeout`.
  std::optional<std::chrono::nanoseconds> connect_timeout{};

  /// How long a node may take to answer. The limit follows the measured round trip within these
  /// bounds; a node that misses it is disconnected and its vote is a timeout.
  std::chrono::nanoseconds shortest_timeout = std::chrono::milliseconds{250};
  std::chrono::nanoseconds longest_timeout = std::chrono::seconds{1};

  /// Use native compare-and-delete if the server has it (Valkey 9.0, Redis 8.4), which costs the
  /// node less. If the user may not run scripts, the client always uses it.
  bool plain_commands = true;
};

/// An event of a node, for operators. `message` is one line.
struct REDLOCK_EXPORT NodeEvent {
  enum class Kind {
    up,           ///< connected, authenticated, identified
    down,         ///< the connection ended or failed; the client retries in the background
    protocol,     ///< the node violated the Redis protocol; the connection was closed
    excluded,     ///< a guard took its vote away
    undelivered,  ///< the client closed before it could deliver releases to the node
    learned,      ///< a majority of the members named a member that ClientOptions::nodes does not:
                  ///< the list is out of date. The client connects to the member with the
                  ///< credentials of the options
    paused,   ///< this client's machine stood still: the clocks of a quorum advanced equally, so
              ///< no node is at fault. Reported once, for the first of these nodes. Leases
              ///< become shorter by the pause, and those that ran out meanwhile are lost
    warning,  ///< something needs attention, and the client goes on: TLS files that have changed
              ///< cannot be used. Reported once, for the first node that was to use them
    counters_reset,  ///< an operator reset the server's counters (CONFIG RESETSTAT), also the
                     ///< number of evicted keys. The node keeps its vote if it does not evict now
  };
  /// How much attention the event deserves.
  enum class Level {
    debug,    ///< an idle connection ended, as servers and proxies end them, or was made again
    info,     ///< up
    warning,  ///< everything else: a connection ended while a request was unanswered, the node
              ///< cannot be connected to, or somebody has to do something
  };
  Kind kind = Kind::up;
  std::size_t node = 0;  ///< position in ClientOptions::nodes; past its end: a learned one
  std::string url{};     ///< without the password
  std::string message{};
  Level level = Level::info;
  /// How often it happened: 1, except in the summaries of ClientOptions::on_log.
  std::uint64_t times = 1;
};

/// The kind as logs name it: "up", "counters-reset".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(NodeEvent::Kind kind) noexcept;
/// "debug", "info" or "warning".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(NodeEvent::Level level) noexcept;

/// The guards decide which votes count after nodes forgot or clocks jumped. A vote that does not
/// count is reported as `Vote::excluded` with the reason.
///
/// The identity guard cannot be switched off: a replica, a cluster or sentinel node, a server that
/// evicts keys, and the second address of a server never have a vote.
struct REDLOCK_EXPORT GuardOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(GuardOptions);

  /// A node that restarted, or lost its data, may have forgotten a lease that is still valid. It
  /// has no vote for new leases until every such lease has ended and it is a member of its
  /// deployment again. Clients with this guard restore the membership while a quorum of the other
  /// members remembers it. A new node cannot be distinguished from one that has lost everything:
  /// see `bootstrap`.
  bool restart = true;

  /// How long a node that restarted stays in quarantine: max TTL and a margin for drift, unless
  /// this is longer.
  std::optional<std::chrono::nanoseconds> quarantine{};

  /// If true, a node keeps its vote over a restart if its marker survived and its configuration has
  /// every command written to disk before the answer (`appendonly yes`, `appendfsync always`).
  bool trust_durable = false;

  /// A node whose clock stepped forward has let keys expire early: it has no vote for new leases
  /// for as long as a quarantine, and counts for less in leases that it granted before. If the
  /// clocks of a quorum step equally, this client's machine stood still, and the nodes keep their
  /// votes: see NodeEvent::Kind::paused. The page `is-redlock-safe.md` names the jumps that this
  /// cannot notice.
  bool clock = true;

  /// How far a node's clock may be from the median of all nodes' clocks.
  std::chrono::nanoseconds clock_bound = std::chrono::seconds{1};
};

/// The configuration of a client. Every member but `nodes` has a default.
struct REDLOCK_EXPORT ClientOptions {
  /// The size that this struct had when the program was compiled. Leave it as it is: the library
  /// reads no further, so that options can grow without a program being compiled again. All structs
  /// of options have it.
  std::size_t struct_size = sizeof(ClientOptions);

  /// 1 to `limits::nodes` independent Redis masters: `redis://[user[:password]@]host[:port][/db]`,
  /// `rediss://…` for TLS, `unix:///path[?db=n]`, or a bare `host[:port][/db]`; `valkey://` and
  /// `valkeys://` mean the same as the first two. `rediss://…?server_name=NAME` names the
  /// certificate of this node, see `TlsOptions::server_name`. A primary with replicas is one node
  /// if its URL says how many servers it is: `redis://…?servers=N`, or, found by its sentinels,
  /// `redis+sentinel://host[:port];…/service?servers=N`, or, in a cluster,
  /// `redis+cluster://host[:port];…/?servers=N` with a `prefix` that begins with a hash tag. Give
  /// all clients that share locks the same nodes, the members of their deployment. Other nodes have
  /// no vote; a client learns of members that its list leaves out while it reaches a majority of
  /// the members.
  std::vector<std::string> nodes{};

  /// The votes that a lease needs. None: a majority, ⌊N/2⌋ + 1. A smaller quorum is refused. A
  /// larger one keeps leases safe while 2q − N − 1 nodes forget at once, and tolerates fewer nodes
  /// that are down.
  std::optional<std::size_t> quorum{};

  /// The name of this client for people: up to `limits::name_bytes` bytes without control
  /// characters. Inspections and refusals show it as the holder's or the waiter's name, and nodes
  /// keep it for longer than the client's leases can last. Empty: `user@host:pid program`.
  std::string name{};

  /// Whether the errors `held`, `split` and `not_holder` say who has the resource: by what name, of
  /// which kind, for how long (`Error::message`, `Error::holder_name`). A refusal contains only a
  /// token, or nothing, so a call that fails asks the nodes once more, which costs one round trip.
  /// Calls that do not wait then also ask for the remaining time (`NodeVote::remaining`), as
  /// calls that wait always do. Not for callers that poll. A refused permit names nobody, because
  /// it has many holders.
  bool name_holders = false;

  std::string user{};      ///< ACL user for URLs without one
  std::string password{};  ///< for URLs without one
  TlsOptions tls{};

  NodeOptions node{};

  /// The longest TTL that this deployment allows; a longer one is refused.
  std::chrono::nanoseconds max_ttl = limits::default_max_ttl;

  GuardOptions guards{};

  /// Called on the client's loop thread. It must not block.
  std::function<void(const NodeEvent&)> on_node_event{};

  /// Observes acquire calls and leases, for tracing: see Observer. None: nothing is observed.
  std::shared_ptr<Observer> observer{};

  /// A prefix of each resource's name on the nodes, so that several teams or stages can share
  /// nodes: the locks of two clients can meet only if one client's prefix begins with the other's.
  /// Names in calls, results and errors are without it. Letters, digits and `-_./:`, at most
  /// `limits::prefix_bytes`, and ':' at the end: "billing:". It can begin with a hash tag, which a
  /// cluster needs: "{locks}:billing:". Clients that share locks must have the same prefix. The
  /// URLs of all nodes can name it instead: `redis://host:7001?prefix=billing:`. Empty: none.
  std::string prefix{};

  /// Called for user and password at each new connection to a node whose URL has no password. Not
  /// together with `password`. See CredentialsProvider, and `password_file`. None: `user` and
  /// `password` are used.
  CredentialsProvider credentials{};

  /// Called with the node events for a log, which stays short whatever happens: an event is
  /// reported at once unless the same kind of the same node and level was reported within the last
  /// minute. Events that were held back are reported once a minute and at the end of the client,
  /// with `NodeEvent::times`, as in "connection refused (17 times in the last minute)". It also
  /// reports a node whose idle connection has ended if the client cannot connect to it again.
  /// Called on the client's loop thread. It must not block.
  std::function<void(const NodeEvent&)> on_log{};
};

/// The mistake in these options for which a client would be refused, if there is one. Nothing is
/// sent, and no node is connected to. Errors: invalid_argument.
[[nodiscard]] REDLOCK_EXPORT std::optional<Error> find_mistake(const ClientOptions& options);

/// The terms of a lease: of an acquire call, and of every lock of a mutex. A value: copies may be
/// used for any number of calls, and share what `on_lost` owns.
struct REDLOCK_EXPORT AcquireOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(AcquireOptions);

  /// How long the nodes keep the lock unless it is extended, in whole milliseconds and at least
  /// `limits::shortest_ttl`: how long a crashed holder blocks the others.
  std::chrono::nanoseconds ttl = limits::default_ttl;

  /// Extends the lease in the background, for as long as the Lease lives. The first renewal comes
  /// when a third of the TTL has passed. With hundreds of leases, first renewals are spread between
  /// 1/6 and 1/3 of the TTL. If false, the lease ends at its deadline unless `Lease::extend` is
  /// called.
  bool renew = true;

  /// The lease is never valid for longer than this after it was granted. At least
  /// `limits::shortest_ttl`. It limits `Lease::extend`, too.
  std::chrono::nanoseconds max_hold = forever;

  /// The lease expires after this many renewals. Calls of `Lease::extend` count as renewals.
  std::uint64_t max_renewals = UINT64_MAX;

  /// Gives the lease a fencing token, `Lease::fencing_token()`, larger than that of every lease
  /// granted with one before on the resource, or on any resource of `all_of`. Costs a second round
  /// trip if the clocks of competing clients are apart. Not for `shared`, `owned` and `permit`,
  /// which may have several holders.
  bool fencing = false;

  /// Repairs orphans: gives this expiry, on every node, to a key that blocks the resource and has
  /// none (its holder died between SETNX and EXPIRE). Only a string of at most
  /// `limits::token_bytes` bytes can be an orphan: data of other types, longer values, and keys
  /// that have an expiry are not touched. In whole milliseconds, from `limits::shortest_ttl` to
  /// `ClientOptions::max_ttl`. None: the key blocks until somebody deletes it. Not for several
  /// resources.
  std::optional<std::chrono::nanoseconds> orphan_ttl{};

  /// The name of this lease's holder if it is not the client's, for people: up to
  /// `limits::name_bytes` bytes that are stored after the token's digits. Refused callers and
  /// inspections see it (`Token::name`).
  std::string name{};

  /// Called on the client's loop thread with the remaining time when only a third of the TTL is
  /// left and no renewal has raised the deadline: renewals fail or have reached a limit. Only with
  /// `renew`. Once for each deadline. It must not block.
  std::function<void(std::chrono::nanoseconds)> on_at_risk{};

  /// Called once per lease, on the client's loop thread, when the deadline passes without a
  /// renewal: from then on the lock may have another holder. After a pause, the holder may be the
  /// first to notice: it is called also if the lease is released after its deadline, and never if
  /// it is released before. Not called because the client is closed or destroyed, which only
  /// signals `Lease::lost`: closing is deliberate. It must not block.
  SharedCallback<void(const Error&)> on_lost{};
};

/// The terms on which an operator breaks a lock: `Client::break_lock`.
struct REDLOCK_EXPORT BreakOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(BreakOptions);

  /// For how long nobody may have the resource afterwards, so that a stopped holder can notice its
  /// loss and its work can settle. At most `ClientOptions::max_ttl`, because a node that forgets
  /// the delay has no vote for that time. After a delay of at least the holder's TTL, its lease has
  /// ended before the next one begins. Zero: no delay, the lock is passed on at once.
  std::chrono::nanoseconds delay{0};
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
