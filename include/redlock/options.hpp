#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "redlock/callback.hpp"
#include "redlock/error.hpp"
#include "redlock/limits.hpp"

namespace redlock {

/// A duration that never ends: wait until granted or cancelled.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

/// TLS for nodes whose URL says `rediss://`. The server's certificate and host name are always
/// verified. Files are PEM.
struct TlsOptions {
  std::string ca_file{};           ///< empty: the system's certificate store
  std::string certificate_file{};  ///< the client's own, where the servers ask for one
  std::string key_file{};          ///< belongs to certificate_file
};

/// Something an operator may want to see about a node. `message` is one line.
struct NodeEvent {
  enum class Kind {
    up,           ///< connected, authenticated, identified
    down,         ///< the connection ended or could not be made; tried again in the background
    protocol,     ///< it sent what a Redis server does not send; the connection was closed
    excluded,     ///< a guard took its vote away
    undelivered,  ///< the client closed before releases could be delivered to it
    learned,      ///< a member that ClientOptions::nodes does not name, told by a majority of the
                  ///< members: the list is out of date. The client connects to it, with the
                  ///< credentials of the options
  };
  Kind kind = Kind::up;
  std::size_t node = 0;  ///< position in ClientOptions::nodes, or behind its end: learned
  std::string url{};     ///< without the password
  std::string message{};
};

/// Which votes count: the answers to nodes that forgot, and to clocks that jumped. A vote that does
/// not count is reported as `Vote::excluded` with the reason.
///
/// The identity guard has no switch: a replica, a cluster or sentinel node, a server that evicts
/// keys, and the second address of a server never have a vote.
struct GuardOptions {
  /// A node that restarted without its data may have forgotten a lease that is still valid. So it
  /// has no vote for new leases until every such lease has ended and it is a member of its
  /// deployment again, which clients with this guard see to while a quorum of the other members
  /// remembers it. A node that nobody has met yet can not be told from one that forgot everything:
  /// see `bootstrap`.
  bool restart = true;

  /// How long that is: max TTL and a margin for drift, unless more is asked for here.
  std::optional<std::chrono::nanoseconds> quarantine{};

  /// A node keeps its vote over a restart if its marker survived and it says that it writes every
  /// command to disk before it answers (`appendonly yes`, `appendfsync always`).
  bool trust_durable = false;

  /// A node whose clock stepped forward has let keys expire early: it has no vote for new leases
  /// for as long as a quarantine, and counts for less in leases that it granted before. See the
  /// documentation for what this can not notice.
  bool clock = true;

  /// How far a node's clock may be from the median of all nodes' clocks.
  std::chrono::nanoseconds clock_bound = std::chrono::seconds{1};
};

/// What a client is made of. Every member has a default but `nodes`.
struct ClientOptions {
  /// 1 to `limits::nodes` independent Redis masters:
  /// `redis://[user[:password]@]host[:port][/db]`, `rediss://…` for TLS,
  /// `unix:///path[?db=n]`, or a bare `host[:port]`. All clients that share locks must be given the
  /// same nodes: clients whose lists differ need not meet in any node.
  std::vector<std::string> nodes{};

  /// Votes that make a lease. None: a majority, ⌊N/2⌋ + 1. A smaller one is refused; a larger one
  /// keeps leases safe while 2q − N − 1 nodes forget at once, and tolerates fewer that are down.
  std::optional<std::size_t> quorum{};

  std::string user{};      ///< ACL user for URLs that name none
  std::string password{};  ///< for URLs that carry none
  TlsOptions tls{};

  /// How long one node may take to answer. The limit follows the measured round trip within these
  /// bounds; a node that misses it is disconnected and its vote is a timeout. The upper bound also
  /// limits connecting.
  std::chrono::nanoseconds shortest_node_limit = std::chrono::milliseconds{250};
  std::chrono::nanoseconds longest_node_limit = std::chrono::seconds{1};

  /// Longest TTL this deployment allows; a longer request is refused.
  std::chrono::nanoseconds max_ttl = limits::default_max_ttl;

  GuardOptions guards{};

  /// Called on the client's loop thread; it must not block.
  std::function<void(const NodeEvent&)> on_node_event{};
};

/// Keeps a lease alive until it is released. Renewal starts when a third of the TTL has passed.
/// Extends by hand count as renewals, and neither limit lets them reach further.
struct RenewalOptions {
  std::uint64_t max_renewals = UINT64_MAX;      ///< after so many the lease runs out
  std::chrono::nanoseconds max_hold = forever;  ///< never valid longer than this after acquisition
};

/// The terms on which an acquire call asks for its Target. A value: copies may be used for any
/// number of calls, and share what `on_lost` owns.
struct AcquireOptions {
  /// How long the nodes keep the lock unless it is extended; whole milliseconds count, at least
  /// `limits::shortest_ttl`.
  std::chrono::nanoseconds ttl = limits::default_ttl;

  /// How long `acquire` keeps trying while the lock is held or too few nodes answer. `forever`:
  /// until it is granted or stopped. Zero: one attempt. The `try_` functions replace it.
  std::chrono::nanoseconds wait = forever;

  /// Extend the lease in the background. None: it ends at its deadline unless extended by hand.
  std::optional<RenewalOptions> renewal{};

  /// Have a refusing node tell for how long it is taken (one more command in the same write). A
  /// waiting acquire always asks.
  enum class RefusalDetail { holder, holder_and_remaining };
  RefusalDetail refusal_detail = RefusalDetail::holder;

  /// Give the lease a fencing token, `Lease::fencing_token()`: larger than that of every lease on
  /// the resource that was granted with one before it; one number for all of several resources.
  /// Costs a second round trip when the clocks of the clients that compete are apart. Not for
  /// `shared`, `owned` and `permit`, which may have several holders.
  bool fencing = false;

  /// A key that blocks the resource and has no expiry at all (a holder that died between SETNX and
  /// EXPIRE) is given this one, on every node. Only a string of at most `limits::token_bytes` bytes
  /// can be such a key: data of other types, longer values, and keys that have an expiry are not
  /// touched. None: it blocks until somebody deletes it.
  std::optional<std::chrono::nanoseconds> orphan_ttl{};

  /// Who holds it, for people: up to `limits::name_bytes` bytes that are stored behind the token's
  /// random part, so that whoever is refused and whoever inspects sees them (`Token::name`).
  std::string name{};

  /// Called on the client's loop thread when only a third of the TTL is left and `renewal` has not
  /// raised the deadline: renewals fail, or have come to their limit. Once for each deadline. It
  /// gets what is left; it must not block.
  std::function<void(std::chrono::nanoseconds)> on_at_risk{};

  /// Called once per lease, on the client's loop thread, when the deadline passes without a
  /// renewal: from then on somebody else may hold the lock. Never called after a release. It must
  /// not block.
  SharedCallback<void(const Error&)> on_lost{};
};

}  // namespace redlock
