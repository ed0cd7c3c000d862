#include "core/nodes/contact.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

#include "support/assert.hpp"

namespace redlock::core {
namespace {

constexpr Duration first_retry = std::chrono::milliseconds(10);
constexpr Duration longest_retry = std::chrono::seconds(1);
constexpr unsigned most_failures = 7;  // from here on, the pause is the longest

// Each connection that ended with unanswered requests adds a suspect; a node that fails so often
// has long closed the oldest.
constexpr std::size_t most_suspects = 16;

}  // namespace

void Contact::connecting(Instant now) noexcept {
  REDLOCK_ASSERT(state_ != State::up);
  connecting_since_ = now;
  retry_at_.reset();
}

void Contact::came_up(const NodeUp& event, Instant now) {
  REDLOCK_ASSERT(state_ != State::up);
  state_ = State::up;
  // Connection ids are numbered per server process: the same number on a restarted server is
  // somebody else's connection.
  if (server_ != event.server) suspects_.clear();
  server_.assign(event.server);
  connection_ = event.connection;
  connecting_since_.reset();
  slow_connections_ = 0;
  returning_ = false;
  up_since_ = now;
  answered_ = event.replica;  // a replica may get no request: its handshake counts
}

void Contact::went_down(Instant now, Vote vote, std::string_view why, bool owes,
                        Randomness& random) {
  if (state_ == State::up && owes) {
    if (suspects_.size() == most_suspects) suspects_.erase(suspects_.begin());
    suspects_.push_back(connection_);
  }
  forgive_failures(now);
  // An error is an answer, not a lost connection: the next connection is unlikely to fare better.
  const bool of_use = state_ == State::up && answered_ && failures_ == 0;
  const bool expected = std::exchange(returns_once_more_, false);
  returning_ = retrying_ && (expected || (of_use && vote != Vote::error));
  state_ = State::down;
  failure_.vote = vote;
  failure_.why.assign(why);
  if (connecting_since_ && vote == Vote::timeout) ++slow_connections_;
  connecting_since_.reset();
  if (expected) {
    if (retrying_) retry_at_ = now;
    return;
  }
  const Duration base = std::min(first_retry * (1 << failures_), longest_retry);
  failures_ = std::min(failures_ + 1, most_failures);
  if (retrying_) retry_at_ = later(now, random.between(base / 2, base));
}

void Contact::forgive_failures(Instant now) noexcept {
  // Only an answered request shows that the node works: a node that accepts connections and never
  // answers must not be tried at the pace of a healthy one.
  if (state_ != State::up || !answered_) return;
  const auto of_use = static_cast<std::uint64_t>((now - up_since_) / longest_retry);
  failures_ -= static_cast<unsigned>(std::min<std::uint64_t>(failures_, of_use));
}

void Contact::retry_soon(Instant now) noexcept {
  // failures_ already counts the connection that has just ended.
  if (retrying_ && failures_ <= 1) retry_at_ = now;
}

void Contact::expect_return() noexcept { returning_ = retrying_ && failures_ <= 1; }

void Contact::stop_retrying() noexcept {
  retrying_ = returning_ = false;
  retry_at_.reset();
}

void Contact::retry_now(Instant now) noexcept {
  failures_ = 0;
  if (retry_at_) retry_at_ = now;
}

void Contact::killed() noexcept {
  if (!suspects_.empty()) suspects_.erase(suspects_.begin());
}

}  // namespace redlock::core
