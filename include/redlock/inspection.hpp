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

/// What one node stores for a resource.
struct NodeInspection {
  std::string url;                    ///< without the password
  std::optional<std::string> holder;  ///< the token stored there; none: free there, or see `error`
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
  std::string holder;  ///< held: the token; split: the one on most nodes
  std::size_t quorum = 0;
  std::vector<NodeInspection> nodes;
};

[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Inspection::State state) noexcept;

}  // namespace redlock
