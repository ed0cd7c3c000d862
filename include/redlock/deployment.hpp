#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

/// A deployment as a whole: looking at its nodes, and opening a new one.
namespace redlock {

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
  bool restarted = false;  ///< since then: the next client to connect puts it into quarantine
  /// How long it has no vote for new leases; `forever` where somebody took the end away.
  std::chrono::nanoseconds quarantine{0};
};

/// Something that is wrong. `not-durable` is reported only where the restart guard is off, or
/// trusts durable nodes: with it, a node that may forget is fine by design.
struct Finding {
  std::string node{};  ///< the node's URL; of several, separated by ", "
  /// unreachable, duplicate, replica, cluster, sentinel, evicting, loading, not-durable, clock,
  /// quarantined, membership, version, auth
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

/// Opens a new deployment: marks every node as having nothing to forget, so that none has to sit
/// out a quarantine. Refused, and nothing is changed, unless every node answers, is a fit one, and
/// holds nothing that can be a lock: a string whose expiry is within max TTL, the old or the new,
/// or later with one of our tokens, and holds of readers and owners.
///
/// Only for a deployment that no client holds a lease in. Also how N or max TTL of one are changed.
/// Blocks for as long as it takes to look through all keys. Errors: invalid_argument; unavailable,
/// naming the nodes and why; held, naming the key; limit_reached without a file descriptor. Where a
/// node fails after others were marked, unavailable says so, and opening again is safe.
[[nodiscard]] REDLOCK_EXPORT Result<Examination> bootstrap(const ClientOptions& options);

}  // namespace redlock
