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
    up,        ///< connected, authenticated, identified
    down,      ///< the connection ended or could not be made; tried again in the background
    protocol,  ///< it sent what a Redis server does not send; the connection was closed
    excluded,  ///< a guard took its vote away
  };
  Kind kind = Kind::up;
  std::size_t node = 0;  ///< position in ClientOptions::nodes
  std::string url{};     ///< without the password
  std::string message{};
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

  /// Called on the client's loop thread; it must not block.
  std::function<void(const NodeEvent&)> on_node_event{};
};

/// Keeps a lease alive until it is released. Renewal starts when a third of the TTL has passed.
struct RenewalOptions {
  std::uint64_t max_renewals = UINT64_MAX;      ///< after so many the lease runs out
  std::chrono::nanoseconds max_hold = forever;  ///< never valid longer than this after acquisition
};

/// One acquire call.
struct AcquireOptions {
  /// How long the nodes keep the lock unless it is extended; whole milliseconds count.
  std::chrono::nanoseconds ttl = limits::default_ttl;

  /// How long to keep trying while somebody else holds the lock or too few nodes answer. Zero: one
  /// attempt. `forever`: until granted or cancelled.
  std::chrono::nanoseconds wait{0};

  /// Extend the lease in the background. None: it ends at its deadline unless extended by hand.
  std::optional<RenewalOptions> renewal{};

  /// Have a refusing node tell for how long it is taken (one more command in the same write). A
  /// waiting acquire always asks.
  enum class RefusalDetail { holder, holder_and_remaining };
  RefusalDetail refusal_detail = RefusalDetail::holder;

  /// Called once, on the client's loop thread, when the deadline passes without a renewal: from
  /// then on somebody else may hold the lock. Never called after a release. It must not block.
  Callback<void(const Error&)> on_lost{};
};

}  // namespace redlock
