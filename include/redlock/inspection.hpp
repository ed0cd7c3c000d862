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
#include "redlock/report.hpp"
#include "redlock/token.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The kind of lock that is stored for a resource.
enum class REDLOCK_EXPORT LockKind {
  none,       ///< nothing
  exclusive,  ///< a token; nobody's lease if it `is_delay`: see Token
  shared,     ///< readers
  owned,      ///< the holds of one owner
  interval,   ///< no holder, but taken until the interval is over
  reserved,   ///< no holder, but reserved for the client that is next: for some milliseconds, or
              ///< for up to four seconds if that client needs several resources
  other,      ///< a key that is not a lock of this library, but blocks the resource
};

/// The token that nodes store for a resource that has no holder, but an interval that is not over.
/// The resource can be released by this token.
inline constexpr std::string_view interval_token = "redlock:cooldown";

/// The beginning of the token that nodes store for a resource that is only reserved; the id of the
/// client that is next follows. A release by this token ends the reservation: nodes pass the
/// resource on.
inline constexpr std::string_view reservation_prefix = "redlock:next:";

/// A lock that an operator broke (`Client::break_lock`).
struct REDLOCK_EXPORT BrokenLock {
  std::chrono::system_clock::time_point time;  ///< by the node's clock, in whole milliseconds
  Token token;                                 ///< the token that was deleted
  std::string by;                              ///< the name of the operator's client
  friend bool operator==(const BrokenLock&, const BrokenLock&) = default;
};

/// The client that a released lock is passed on to.
struct REDLOCK_EXPORT NextClient {
  std::string id;    ///< see `Token::client_id`
  std::string name;  ///< its name for people; empty: not known
  friend bool operator==(const NextClient&, const NextClient&) = default;
};

/// The lock that one node stores for a resource.
struct REDLOCK_EXPORT NodeInspection {
  std::string url;  ///< without the password
  LockKind kind = LockKind::none;
  std::optional<Token> holder;  ///< exclusive: the stored token
  std::string owner;            ///< owned: the name of the owner
  /// The holder's name for people: `AcquireOptions::name`, or else `ClientOptions::name` of its
  /// client; for a delay, that of the operator's client. Empty: not known.
  std::string holder_name;
  std::uint32_t holds = 0;  ///< shared, owned: the number of holds, without a delay
  /// Shared, owned: the tokens of the `limits::holds_listed` holds that expire first; a delay's,
  /// too.
  std::vector<Token> tokens;
  /// The names of the holders of the first 8 `tokens`, in the same order; empty: not known.
  std::vector<std::string> names;
  std::uint32_t waiters = 0;       ///< clients that are queued for the resource
  std::optional<NextClient> next;  ///< none: the node has nobody in its queue
  /// The last 8 locks that operators broke within the last day, the newest first.
  std::vector<BrokenLock> broken;
  std::optional<std::chrono::nanoseconds> remaining;  ///< none: the key has no expiry
  /// The last fencing token that the node acknowledged. None: there was none, or the node has
  /// forgotten it.
  std::optional<FencingToken> fencing_token;
  std::chrono::nanoseconds quarantine{0};  ///< how long the node has no vote for new leases
  std::string error;  ///< why nothing is known of this node; empty if it answered
};

/// The locks on a resource over all nodes. A snapshot.
struct REDLOCK_EXPORT Inspection {
  enum class State {
    free,   ///< no token is on a quorum, and a client can acquire the resource: any client, or, if
            ///< it is reserved (`LockKind::reserved`), the client that is next
    held,   ///< one token is on a quorum of nodes
    split,  ///< tokens are on too many nodes for anybody to get a quorum, and none has one
    indeterminate,  ///< the state depends on nodes that did not answer
  };
  State state = State::indeterminate;
  LockKind kind = LockKind::none;  ///< of the key on most nodes
  std::optional<Token> holder;     ///< exclusive: the token on most nodes
  std::string owner;               ///< owned: the name of the owner on most nodes
  std::string holder_name;         ///< the holder's name for people; empty: not known
  std::uint32_t waiters = 0;       ///< clients that are queued, on the node with most of them
  std::optional<NextClient> next;  ///< on most nodes
  std::vector<BrokenLock> broken;  ///< locks that operators broke, the newest first
  std::size_t quorum = 0;
  std::vector<NodeInspection> nodes;
};

/// The terms of watching a resource.
struct REDLOCK_EXPORT WatchOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(WatchOptions);

  /// How often the client asks the nodes if too few of them notify it of changes.
  std::chrono::nanoseconds poll_interval = std::chrono::milliseconds{250};
};

/// Whether a token holds a resource now. An enumeration and not a bool, because a `Result<bool>`
/// that contains false converts to true.
enum class REDLOCK_EXPORT Ownership {
  not_held,  ///< too few nodes have the token for it to hold the resource
  held,      ///< a quorum of nodes has it
};

/// The enumerator's name: "held".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Inspection::State state) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(LockKind kind) noexcept;
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Ownership ownership) noexcept;

}  // namespace REDLOCK_ABI
}  // namespace redlock
