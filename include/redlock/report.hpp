#pragma once

#include "redlock/language.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/export.hpp"
#include "redlock/limits.hpp"

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

/// The parts of all nodes in a round, in the order in which they were configured: to be read like a
/// `std::vector<NodeReport>` that does not change. Each part is made when it is asked for, so that
/// the usual report, which nobody reads, costs nothing.
///
/// Thread safety: a value. It does not need the client that it came from.
class REDLOCK_EXPORT NodeReports {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::random_access_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = NodeReport;
    using reference = NodeReport;
    /// Keeps the part alive while a member of it is looked at.
    struct pointer {
      NodeReport part;
      [[nodiscard]] const NodeReport* operator->() const noexcept { return &part; }
    };

    Iterator() noexcept = default;
    [[nodiscard]] NodeReport operator*() const { return (*parts_)[position()]; }
    [[nodiscard]] pointer operator->() const { return {**this}; }
    [[nodiscard]] NodeReport operator[](difference_type distance) const {
      return *(*this + distance);
    }
    Iterator& operator++() noexcept { return *this += 1; }
    Iterator& operator--() noexcept { return *this -= 1; }
    Iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(difference_type distance) noexcept {
      position_ += distance;
      return *this;
    }
    Iterator& operator-=(difference_type distance) noexcept { return *this += -distance; }
    friend Iterator operator+(Iterator at, difference_type distance) noexcept {
      return at += distance;
    }
    friend Iterator operator+(difference_type distance, Iterator at) noexcept {
      return at += distance;
    }
    friend Iterator operator-(Iterator at, difference_type distance) noexcept {
      return at -= distance;
    }
    friend difference_type operator-(const Iterator& a, const Iterator& b) noexcept {
      return a.position_ - b.position_;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) noexcept {
      return a.position_ == b.position_;
    }
    friend auto operator<=>(const Iterator& a, const Iterator& b) noexcept {
      return a.position_ <=> b.position_;
    }

   private:
    friend class NodeReports;
    Iterator(const NodeReports& parts, difference_type position) noexcept
        : parts_(&parts), position_(position) {}
    [[nodiscard]] std::size_t position() const noexcept {
      return static_cast<std::size_t>(position_);
    }

    const NodeReports* parts_ = nullptr;
    difference_type position_ = 0;
  };
  using value_type = NodeReport;
  using const_iterator = Iterator;
  using iterator = Iterator;
  using size_type = std::size_t;

  NodeReports() noexcept = default;
  NodeReports(std::vector<NodeReport> parts);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Below `size()`.
  [[nodiscard]] NodeReport operator[](std::size_t node) const;
  /// As `operator[]`. Throws std::out_of_range.
  [[nodiscard]] NodeReport at(std::size_t node) const;
  [[nodiscard]] Iterator begin() const noexcept { return {*this, 0}; }
  [[nodiscard]] Iterator end() const noexcept {
    return {*this, static_cast<std::ptrdiff_t>(size_)};
  }

  /// The library's: nodes that granted, and others that have not answered. `urls` of all.
  struct Plain;
  explicit NodeReports(Plain&& plain) noexcept;

 private:
  std::shared_ptr<const std::vector<NodeReport>> parts_;  // none where each is plain
  std::shared_ptr<const std::vector<std::string>> urls_;
  std::array<std::chrono::nanoseconds, limits::nodes> round_trips_{};
  std::uint16_t granted_ = 0;  // a bit each
  std::uint8_t size_ = 0;
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
  NodeReports nodes;  ///< in the order in which they were configured
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
