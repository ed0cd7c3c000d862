#pragma once

#include "redlock/language.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/token.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The answer of one node in one round. One vote per node and attempt.
enum class REDLOCK_EXPORT Vote {
  pending,      ///< had not answered when the round was decided
  granted,      ///< our key was set, extended or deleted
  refused,      ///< the resource has another holder there, or is no longer ours
  timeout,      ///< no answer within the node's time limit
  unreachable,  ///< no connection
  error,        ///< the node answered with an error, kept word for word
  excluded,     ///< a guard does not let it vote
};

/// The enumerator's name: "granted".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Vote vote) noexcept;
/// Writes the enumerator's name.
REDLOCK_EXPORT std::ostream& operator<<(std::ostream& out, Vote vote);

/// The reason why a node refused a request: who or what has the resource there.
///
/// A node answers with the token or with a word, such as `shared`, `writer` or `owner NAME`. If the
/// token of another library's lock equals such a word, the kind is the one that the word means. An
/// inspection asks for the type of the key too, and shows the token.
struct REDLOCK_EXPORT Holder {
  /// The kinds of `LockKind` without `none`, and `writer`.
  enum class Kind {
    exclusive,  ///< the holder of the token; nobody if it `is_delay`: see Token
    shared,     ///< readers
    owned,      ///< the holds of one owner
    interval,   ///< no holder, but taken until the interval is over
    reserved,   ///< no holder, but reserved for some milliseconds for the client that is next
    other,      ///< a key that is not a lock
    writer,     ///< somebody waits, and new holds are refused meanwhile
  };
  Kind kind = Kind::exclusive;
  std::optional<Token> token{};  ///< exclusive: the stored token
  std::string owner{};           ///< owned: the name of the owner
  friend bool operator==(const Holder&, const Holder&) = default;
};

/// The enumerator's name: "exclusive".
[[nodiscard]] REDLOCK_EXPORT std::string_view to_string(Holder::Kind kind) noexcept;

/// One node's part in a round.
struct REDLOCK_EXPORT NodeVote {
  std::string url;  ///< as configured, without the password
  Vote vote = Vote::pending;
  std::optional<std::chrono::nanoseconds> round_trip;  ///< none without an answer
  std::optional<Holder> holder;  ///< refused: the reason, if the node gives one
  std::optional<std::chrono::nanoseconds> remaining;  ///< refused: the rest of the holder's TTL
  std::string message;  ///< timeout, unreachable, error, excluded: why
};

/// The parts of all nodes in a round, in the order in which they were configured: read like a
/// `std::vector<NodeVote>` that does not change. They are made when one of them is first read, so
/// that the usual report, which nobody reads, costs nothing.
///
/// Thread safety: a value. It does not need the client that it came from.
class REDLOCK_EXPORT NodeVotes {
 public:
  using value_type = NodeVote;
  using size_type = std::size_t;
  using const_iterator = const NodeVote*;
  using iterator = const_iterator;

  NodeVotes() noexcept = default;
  NodeVotes(std::vector<NodeVote> parts);
  NodeVotes(const NodeVotes& other);
  NodeVotes(NodeVotes&& other) noexcept
      : parts_(other.parts_.exchange(nullptr, std::memory_order_relaxed)),
        urls_(std::move(other.urls_)),
        round_trips_(other.round_trips_),
        granted_(other.granted_),
        size_(std::exchange(other.size_, std::uint16_t{0})) {}
  NodeVotes& operator=(NodeVotes other) noexcept;
  ~NodeVotes() {
    if (parts_.load(std::memory_order_relaxed) != nullptr) forget_parts();
  }

  /// How many nodes the round asked.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Whether nothing was sent.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The part of the node with this index, which is below `size()`.
  [[nodiscard]] const NodeVote& operator[](std::size_t node) const { return parts()[node]; }
  /// As `operator[]`. Throws std::out_of_range if there is no such node.
  [[nodiscard]] const NodeVote& at(std::size_t node) const { return parts().at(node); }
  [[nodiscard]] const_iterator begin() const { return parts().data(); }
  [[nodiscard]] const_iterator end() const { return parts().data() + size_; }

  /// For the library: nodes that granted, and nodes that have not answered.
  struct REDLOCK_HIDDEN Plain;
  REDLOCK_HIDDEN explicit NodeVotes(Plain&& plain) noexcept;

 private:
  using Parts = std::vector<NodeVote>;
  [[nodiscard]] const Parts& parts() const;
  [[nodiscard]] REDLOCK_HIDDEN const Parts& make_parts() const;
  void forget_parts() noexcept;

  mutable std::atomic<const Parts*> parts_{nullptr};  // owned; null until a part is first read
  std::shared_ptr<const std::vector<std::string>> urls_;
  // With more nodes, the parts are made at once: the layout does not depend on limits::nodes.
  static constexpr std::size_t most_plain = 15;
  // In nanoseconds. Reports are kept with leases, and a float has seven digits in half the room.
  std::array<float, most_plain> round_trips_{};
  std::uint16_t granted_ = 0;  // a bit for each node
  std::uint16_t size_ = 0;
};

/// The round that decided an operation.
struct REDLOCK_EXPORT Round {
  std::size_t quorum = 0;
  std::chrono::nanoseconds ttl{0};  ///< the requested TTL
  /// From the first byte of the call's first round to the decision.
  std::chrono::nanoseconds elapsed{0};
  /// The time left of the lease at the decision; 0 without a lease.
  std::chrono::nanoseconds remaining{0};
  /// Release of a `shared` or `owned` hold: how many holds remain, as far as the nodes that
  /// answered know. Zero only if no hold is left.
  std::optional<std::uint32_t> holds_left{};
  NodeVotes nodes;  ///< in the order in which they were configured
};

/// The releases that a client could not deliver before it was closed.
struct REDLOCK_EXPORT CloseReport {
  /// A node that did not answer in time. Keys stay there until they expire, or until the node
  /// executes a release that was sent after all.
  struct Undelivered {
    std::size_t node = 0;  ///< position in ClientOptions::nodes
    std::string url{};     ///< without the password
    std::size_t releases = 0;
    /// How long at most keys stay there: from the end of the client, or, with `may_write_late`,
    /// from the moment when the node has executed all requests that it has received.
    std::chrono::nanoseconds left{0};
    /// The node may have received a request that it has not executed, as a hung node does: it can
    /// still write a key when it goes on.
    bool may_write_late = false;
  };
  std::vector<Undelivered> undelivered{};
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
