#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/report.hpp"

namespace redlock {

/// What is stored for a resource.
enum class LockKind {
  none,       ///< nothing
  exclusive,  ///< a token
  shared,     ///< readers
  reentrant,  ///< the holds of one owner
  interval,   ///< nobody's: taken until the interval is over (`interval`)
  other,      ///< a key that is no lock of ours, and blocks all the same
};

/// What nodes store where nobody holds a resource but its interval is not over. By this token it
/// can be released all the same.
inline constexpr std::string_view interval_token = "redlock:cooldown";

/// What one node stores for a resource.
struct NodeInspection {
  std::string url;  ///< without the password
  LockKind kind = LockKind::none;
  /// The token stored there, the owner of a reentrant lock, empty of the other kinds; none: free
  /// there, or see `error`.
  std::optional<std::string> holder;
  std::uint32_t holds = 0;  ///< shared, reentrant: how many
  /// Shared, reentrant: by which they can be released. Those of the `limits::holds_told` holds that
  /// end first.
  std::vector<std::string> tokens;
  bool has_token = false;                             ///< the token that was asked about is there
  std::optional<std::chrono::nanoseconds> remaining;  ///< none: the key has no expiry
  /// The last fencing token that the node acknowledged; none: never one, or long ago.
  std::optional<std::uint64_t> fencing;
  std::chrono::nanoseconds quarantine{0};  ///< how long the node has no vote for new leases
  std::string error;  ///< why nothing is known of this node; empty when it answered
};

/// What all nodes together say about a resource. A snapshot: it may be different a moment later.
struct Inspection {
  enum class State {
    free,   ///< no token is on a quorum, and one can be had
    held,   ///< one token is on a quorum of nodes
    split,  ///< tokens are on too many nodes for anybody to get a quorum, none of them has one
  };
  State state = State::free;
  LockKind kind = LockKind::none;  ///< of the key on most nodes
  std::string holder;              ///< held: the token or the owner; split: the one on most nodes
  std::size_t quorum = 0;
  std::vector<NodeInspection> nodes;
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
