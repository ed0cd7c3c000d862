#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"

namespace redlock {

/// What one node said in one round. One vote per node and attempt.
enum class Vote {
  pending,      ///< not answered when the round was decided; nobody waited for it
  granted,      ///< it did what was asked: set, extended or deleted our key
  refused,      ///< the resource belongs to somebody else there, or is not ours any more
  timeout,      ///< no answer within the node's time limit
  unreachable,  ///< no connection
  error,        ///< it answered with an error, kept word for word
  excluded,     ///< a guard does not let it vote
};

[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Vote vote) noexcept;

/// One node's part in a round.
struct NodeReport {
  std::string url;  ///< as configured, without the password
  Vote vote = Vote::pending;
  std::optional<std::chrono::nanoseconds> round_trip;  ///< absent where nothing was answered
  std::string holder;  ///< refused: the token stored there, where the server told; `shared` where
                       ///< readers are, `writer` where one waits, `owner NAME`
  std::optional<std::chrono::nanoseconds> remaining;  ///< refused: what is left of its TTL
  std::string message;  ///< timeout, unreachable, error, excluded: why
};

/// What happened in the round that decided an operation.
struct RoundReport {
  std::size_t quorum = 0;
  std::chrono::nanoseconds ttl{0};       ///< what the nodes were asked for
  std::chrono::nanoseconds elapsed{0};   ///< first byte of the call's first round to the decision
  std::chrono::nanoseconds validity{0};  ///< what was left at the decision; 0 where none was gained
  /// A release of a hold that others may have as well: how many of them are left, as far as the
  /// nodes tell that answered. Zero only when there is none.
  std::optional<std::uint32_t> holds_left{};
  std::vector<NodeReport> nodes;  ///< in the order in which they were configured
};

/// What a client left behind when it was closed.
struct CloseReport {
  /// A node that did not answer in time. What is locked there stays so until it expires, or until
  /// the release, which may have been sent, is executed after all.
  struct Undelivered {
    std::size_t node = 0;  ///< position in ClientOptions::nodes
    std::string url{};     ///< without the password
    std::size_t releases = 0;
  };
  std::vector<Undelivered> undelivered{};
};

}  // namespace redlock
