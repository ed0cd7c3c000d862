#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/fencing_token.hpp"
#include "redlock/report.hpp"

namespace redlock {

/// The kind of lock that is stored for a resource.
enum class LockKind {
  none,       ///< nothing
  exclusive,  ///< a token
  shared,     ///< readers
  reentrant,  ///< the holds of one owner
  interval,   ///< no holder, but taken until the interval is over
  other,      ///< a key that is no lock of this library, and blocks it nevertheless
};

/// The token that nodes store for a resource without a holder whose interval is not over. It can be
/// released by this token.
inline constexpr std::string_view interval_token = "redlock:cooldown";

/// How the token of a resource begins that nobody holds, and that a node has reserved, for some
/// milliseconds, for the client that has waited longest. It is nobody's vote.
inline constexpr std::string_view reservation_prefix = "redlock:next:";

/// The lock that one node stores for a resource.
struct NodeInspection {
  std::string url;  ///< without the password
  LockKind kind = LockKind::none;
  /// The stored token, the owner of a reentrant lock, or empty for the other kinds. None: free
  /// there, or see `error`.
  std::optional<std::string> holder;
  std::uint32_t holds = 0;  ///< shared, reentrant: the number of holds
  /// Shared, reentrant: the tokens of the `limits::holds_listed` holds that expire first.
  std::vector<std::string> tokens;
  bool has_token = false;                             ///< the token in question is stored there
  std::optional<std::chrono::nanoseconds> remaining;  ///< none: the key has no expiry
  /// The last fencing token that the node acknowledged. None: never one, or long ago.
  std::optional<FencingToken> fencing;
  std::chrono::nanoseconds quarantine{0};  ///< how long the node has no vote for new leases
  std::string error;  ///< why nothing is known of this node; empty if it answered
};

/// The locks on a resource over all nodes. A snapshot.
struct Inspection {
  enum class State {
    free,   ///< no token is on a quorum, and one can be acquired
    held,   ///< one token is on a quorum of nodes
    split,  ///< tokens are on too many nodes for anybody to get a quorum, and none has one
  };
  State state = State::free;
  LockKind kind = LockKind::none;  ///< of the key on most nodes
  std::string holder;              ///< held: the token or the owner; split: the one on most nodes
  std::size_t quorum = 0;
  std::vector<NodeInspection> nodes;
};

/// The terms of watching a resource.
struct WatchOptions {
  /// How often the nodes are asked where too few of them notify the client of changes.
  std::chrono::nanoseconds poll_interval = std::chrono::milliseconds{250};
};

/// Whether a token holds a resource now. An enumeration, because the `Result` of a bool would be
/// true for "no" as well.
enum class Ownership {
  not_held,  ///< too few nodes have the token for it to hold the resource
  held,      ///< a quorum of nodes has it
};

[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Inspection::State state) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(LockKind kind) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Ownership ownership) noexcept;

}  // namespace redlock
