#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// The connection to one node: whether it is usable, why not, and when to connect again.
class Contact {
 public:
  enum class State : std::uint8_t {
    fresh,  ///< in first contact: worth a short wait
    up,     ///< ready for requests
    down,   ///< known to be down: a failure at once, reconnected in the background
  };

  explicit Contact(const Settings& settings) : settings_(&settings) {}

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] bool up() const noexcept { return state_ == State::up; }
  [[nodiscard]] bool fresh() const noexcept { return state_ == State::fresh; }
  /// The connection was of use until a moment ago, and the first attempt to reconnect is under way:
  /// worth as short a wait as first contact.
  [[nodiscard]] bool returning() const noexcept { return returning_; }
  /// The server's run_id as of the last time the node was up; empty before.
  [[nodiscard]] const std::string& server() const noexcept { return server_; }

  /// The driver begins to connect.
  void connecting(Instant now) noexcept;
  void came_up(const NodeUp& event, Instant now);
  /// A request was answered on this connection, which so was of use.
  void was_answered() noexcept { answered_ = true; }

  /// A connection ended. `vote` and `why` are the node's vote in rounds that begin while it is
  /// down.
  struct Failure {
    Vote vote = Vote::unreachable;
    std::string why;
  };
  /// Each connection that ended delays the next attempt, and each second in which a connection was
  /// of use shortens the delay again. A node that ends all connections is tried about once per
  /// second. `owes`: requests were unanswered.
  void went_down(Instant now, Vote vote, std::string_view why, bool owes, Randomness& random);
  [[nodiscard]] const Failure& failure() const noexcept { return failure_; }

  void stop_retrying() noexcept;
  /// The next attempt comes at once, unless the connections before were of no use for long.
  void retry_soon(Instant now) noexcept;
  /// The client ends the connection for a reason that a new connection removes.
  void expect_return() noexcept;
  /// Like expect_return(), but called before the connection ends; the next attempt comes at once.
  void return_once_more() noexcept { returns_once_more_ = true; }
  /// Forgets the failures; a retry that is waiting begins at once.
  void retry_now(Instant now) noexcept;

  /// Earlier connections to this server that ended with unanswered requests. The server must have
  /// closed each of them before a release is sent. The caller sends the kills; a connection that is
  /// not confirmed by `killed` is a suspect again on the next connection.
  [[nodiscard]] const std::vector<std::int64_t>& suspects() const noexcept { return suspects_; }
  void killed() noexcept;

  /// How long a connection may take to be made. The limit doubles after each connection that took
  /// longer: if a thousand clients connect at once and all give up after the same time, the node
  /// serves none of them. It grows at most eightfold, so that a node that was cut off for a while
  /// is soon found again.
  [[nodiscard]] Duration limit() const noexcept {
    constexpr unsigned most_doublings = 3;
    return settings_->connect_limit() * (1 << std::min(slow_connections_, most_doublings));
  }
  [[nodiscard]] bool overdue(Instant now) const noexcept {
    return connecting_since_ && now >= later(*connecting_since_, limit());
  }
  [[nodiscard]] bool retry_due(Instant now) const noexcept {
    return retry_at_ && now >= *retry_at_;
  }
  /// While it is not up: when a connection is overdue, or is to be tried. None: nothing is due.
  [[nodiscard]] std::optional<Instant> deadline() const noexcept {
    return connecting_since_ ? std::optional(later(*connecting_since_, limit())) : retry_at_;
  }

 private:
  void forgive_failures(Instant now) noexcept;

  const Settings* settings_;
  State state_ = State::fresh;
  Failure failure_;
  std::string server_;
  std::int64_t connection_ = 0;
  std::vector<std::int64_t> suspects_;  // oldest first
  bool retrying_ = true;
  unsigned failures_ =
      0;  ///< connections that ended, less one for each second in which one was used
  Instant up_since_{};
  bool answered_ = false;  ///< whether a request was answered on this connection
  bool returning_ = false;
  bool returns_once_more_ = false;
  unsigned slow_connections_ = 0;  ///< successive connections that were not made within their limit
  std::optional<Instant> connecting_since_;
  std::optional<Instant> retry_at_ = Instant::min();  // the first connection is due at once
};

}  // namespace redlock::core
