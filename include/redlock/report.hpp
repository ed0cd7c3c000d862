#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/export.hpp"

namespace redlock {

/// The answer of one node in one round. One vote per node and attempt.
enum class Vote {
  pending,      ///< no answer yet when the round was decided
  granted,      ///< our key was set, extended or deleted
  refused,      ///< the resource has another holder there, or is no longer ours
  timeout,      ///< no answer within the node's time limit
  unreachable,  ///< no connection
  error,        ///< the node answered with an error, kept word for word
  excluded,     ///< a guard does not let it vote
};

/// The enumerator's name: "granted".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Vote vote) noexcept;

/// One node's part in a round.
struct NodeReport {
  std::string url;  ///< as configured, without the password
  Vote vote = Vote::pending;
  std::optional<std::chrono::nanoseconds> round_trip;  ///< none without an answer
  std::string holder;  ///< refused: the token stored there, if the server says; `shared` for
                       ///< readers, `owner NAME`; `writer`: somebody waits, and new holds are
                       ///< refused
  std::optional<std::chrono::nanoseconds> remaining;  ///< refused: the rest of the holder's TTL
  std::string message;  ///< timeout, unreachable, error, excluded: why
};

/// The round that decided an operation.
struct RoundReport {
  std::size_t quorum = 0;
  std::chrono::nanoseconds ttl{0};       ///< the requested TTL
  std::chrono::nanoseconds elapsed{0};   ///< first byte of the call's first round to the decision
  std::chrono::nanoseconds validity{0};  ///< left of the lease at the decision; 0 without a lease
  /// Release of a `shared` or `owned` hold: how many holds remain, as far as the nodes that
  /// answered know. Zero only if there is none.
  std::optional<std::uint32_t> holds_left{};
  std::vector<NodeReport> nodes;  ///< in the order in which they were configured
};

/// The releases that a client could not deliver before it was closed.
struct CloseReport {
  /// A node that did not answer in time. Locks stay there until they expire, or until the node
  /// executes a release that was sent after all.
  struct Undelivered {
    std::size_t node = 0;  ///< position in ClientOptions::nodes
    std::string url{};     ///< without the password
    std::size_t releases = 0;
  };
  std::vector<Undelivered> undelivered{};
};

}  // namespace redlock
