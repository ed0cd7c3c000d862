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
#include "redlock/inspection.hpp"
#include "redlock/limits.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {
namespace admin {

/// Which locks are listed.
struct REDLOCK_EXPORT ListOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(ListOptions);

  /// A glob as Redis has it (`*`, `?`, `[a-c]`, `\` before a character that is meant literally).
  /// Empty: all resources. A semaphore is listed if its name or that of a permit matches.
  std::string pattern{};

  /// How many keys of each node are read, at least 1. If a node has more, the rest is left out, and
  /// `LockList::complete` is false.
  std::size_t keys_per_node = limits::keys_listed;
};

/// A lock over all nodes.
struct REDLOCK_EXPORT ListedLock {
  enum class State {
    held,           ///< on a quorum of nodes
    split,          ///< on too many nodes for anybody else to get a quorum, and nobody has one
    minority,       ///< on fewer nodes than a quorum: what an attempt, release or holder left
    indeterminate,  ///< the state depends on nodes that did not answer
    reserved,       ///< nobody holds it; nodes have reserved it for clients that were queued
    free,           ///< nobody holds it, and clients are queued for it
  };

  /// For a semaphore, its name: that of a permit without `#` and the number.
  std::string resource{};
  LockKind kind = LockKind::none;  ///< none: reserved or free
  State state = State::free;
  std::optional<Token> holder{};  ///< exclusive, but no semaphore: the token on most nodes
  std::string owner{};            ///< owned: the name of the owner on most nodes
  std::uint32_t holds = 0;        ///< shared, owned: the number of holds
  /// How many permits of a semaphore are held; its size is not stored. None: not a semaphore.
  std::optional<std::size_t> permits{};
  /// How long the lock is held unless it is extended: until fewer than a quorum of the nodes have
  /// it. For a semaphore: until the next permit is free. If no quorum has the lock: until the last
  /// node has forgotten it.
  std::chrono::nanoseconds remaining{0};
  std::size_t waiters = 0;  ///< clients that are queued, on the node with most of them
  /// How many nodes store the lock; for a semaphore: its permit that is on the fewest nodes.
  std::size_t nodes = 0;
  /// Exclusive, but no semaphore: the holder's name for people; empty: not known.
  std::string holder_name{};
};

/// The enumerator's name: "held".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(ListedLock::State state) noexcept;

/// The part of one node in the list.
struct REDLOCK_EXPORT ListedNode {
  std::string url{};           ///< without the password
  std::string error{};         ///< why it did not answer; empty if it did
  bool stopped_early = false;  ///< it has more keys than `ListOptions::keys_per_node`
  std::size_t unread = 0;      ///< keys not listed: no right to them, or names too long
};

/// The locks of all nodes. Not a snapshot: locks change while nodes are asked.
struct REDLOCK_EXPORT LockList {
  std::vector<ListedLock> locks{};  ///< sorted by resource
  /// In the order in which they were configured. Then the members that the options do not name,
  /// with an error: they were not asked.
  std::vector<ListedNode> nodes{};
  std::size_t quorum = 0;
  std::size_t answered = 0;  ///< nodes that answered; below the quorum, locks may be missing
  /// A quorum of nodes answered, and these showed all of their keys.
  bool complete = false;
};

/// Lists the locks that the nodes store, and the resources for which clients are queued. With
/// `ClientOptions::prefix`, it lists only resources that have the prefix, by their names without
/// it, and compares the pattern with these names.
///
/// A key is listed if it can be a lock: the holds of readers or of an owner, one of the library's
/// own strings, or a string that is no longer than the longest token and expires within max TTL.
/// Locks of other Redlock clients are such strings, and so is other data that expires within max
/// TTL. A key without expiry is not listed.
///
/// Goes through the keys of each node with SCAN, in pages of 250, at most
/// `ListOptions::keys_per_node`; changes nothing. Blocks for one round trip per page, to all nodes
/// at once. Gives a node up if it cannot connect within the connect timeout, or if the node leaves
/// one page unanswered for the longest node timeout. A node that does not answer causes no error:
/// see `LockList::nodes`. Errors: invalid_argument; limit_reached without a file descriptor. Any
/// thread.
[[nodiscard]] REDLOCK_EXPORT Result<LockList> list_locks(const ClientOptions& options,
                                                         const ListOptions& list = {});

}  // namespace admin
}  // namespace REDLOCK_ABI
}  // namespace redlock
