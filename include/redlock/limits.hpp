#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>

/// The limits of the library, each with its reason.
namespace redlock::limits {

/// Nodes of a client. A majority decides a round; more than a few nodes cost latency and gain
/// nothing.
inline constexpr std::size_t nodes = 15;

/// Bytes of a resource's name. A Redis key can have 512 MiB, but a name that long is a mistake, and
/// would be sent to every node at every attempt.
inline constexpr std::size_t resource_bytes = 8192;

/// Bytes of a prefix. Resource and prefix together have at most `resource_bytes`.
inline constexpr std::size_t prefix_bytes = 128;

/// Resources of one lease: one script per node names all of them.
inline constexpr std::size_t resources = 64;

/// Permits of a semaphore: a node that refuses one lists the others that are free.
inline constexpr std::size_t permits = 256;

/// Holds whose tokens one inspection lists, those that expire first: a crowd of readers must not
/// make an answer large.
inline constexpr std::size_t holds_listed = 256;

/// Keys of a node that a list of locks goes through by default: it must not keep a node from its
/// other work.
inline constexpr std::size_t keys_listed = 10'000;

/// The largest number of keys that a list may go through.
inline constexpr std::size_t most_keys_listed = 100'000'000;

/// Bytes of a pattern: room for a resource in which every byte is escaped.
inline constexpr std::size_t pattern_bytes = 2 * resource_bytes;

/// Bytes of the name of a client, of an owner, and of a candidate for leadership.
inline constexpr std::size_t name_bytes = 80;

/// Bytes of a token. Our tokens have 40 characters, optionally followed by a name; other Redlock
/// clients use up to 36.
inline constexpr std::size_t token_bytes = 128;

/// How far the clocks of nodes and clients may drift apart over a TTL: one percent, and 2 ms for
/// the granularity of expiry (CLOCK_DRIFT_FACTOR of the Redis document and its constant). A lease
/// is valid for its TTL minus this.
[[nodiscard]] constexpr std::chrono::nanoseconds clock_drift(
    std::chrono::nanoseconds ttl) noexcept {
  return ttl / 100 + std::chrono::milliseconds(2);
}

/// The least TTL that leaves any validity. Redis counts expiry in whole milliseconds. Clock drift
/// takes all of a shorter one, so that no acquire could ever succeed.
inline constexpr std::chrono::milliseconds shortest_ttl = [] {
  std::chrono::milliseconds ttl{1};
  while (ttl <= clock_drift(ttl)) ++ttl;
  return ttl;
}();

/// The TTL if the caller names none.
inline constexpr std::chrono::milliseconds default_ttl{10'000};

/// The default of max TTL, the longest TTL that a caller can ask for. The guards wait this long.
inline constexpr std::chrono::milliseconds default_max_ttl{30'000};

/// The longest max TTL: a node that came back would be quarantined for as long, and instants would
/// come near the end of 64-bit nanoseconds.
inline constexpr std::chrono::hours longest_max_ttl{24 * 365};

/// Acquisitions and leases of one client at one time. Further calls are refused, so that a caller's
/// leak becomes an error and not an exhausted machine.
inline constexpr std::size_t operations = 1'000'000;

/// Unanswered requests on one connection. After that, the vote of the hung node is a failure at
/// once.
inline constexpr std::size_t unanswered_per_node = 8192;

/// The largest answer accepted from a server. No answer of this protocol comes near it, so a larger
/// one comes from a broken or hostile server.
inline constexpr std::size_t reply_bytes = 1024 * 1024;

}  // namespace redlock::limits
