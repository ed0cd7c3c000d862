#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "core/node_set.hpp"
#include "core/nodes.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// A client that closes delivers what it owes, and how long it waits for that.
class Closing {
 public:
  Closing(const Instant& now, Nodes& nodes) : now_(now), nodes_(nodes) {}

  void begin(Duration grace);
  /// Nothing new is asked for.
  [[nodiscard]] bool has_begun() const noexcept { return until_.has_value(); }
  /// Of the connections, only those that are of use yet are kept: to these nodes, to those that are
  /// up, and to those that may still be there in a moment.
  void keep_connections(NodeSet indeterminate);
  void dropped(NodeIndex node);
  /// Nodes to which nothing more is delivered.
  [[nodiscard]] NodeSet given_up() const noexcept { return given_up_; }

  /// When it waits no more for something.
  [[nodiscard]] Instant deadline() const noexcept {
    if (over_) return never;
    return now_ < greet_until_ ? greet_until_ : until_.value_or(never);
  }
  [[nodiscard]] bool is_late() const noexcept { return until_ && now_ >= *until_; }
  /// A detached lease still goes to nodes whose first contact is a moment away. A hung one is not
  /// waited for.
  [[nodiscard]] bool may_meet_nodes() const noexcept { return now_ < greet_until_; }
  /// `forgetting`: nodes that were asked to forget the client's name.
  [[nodiscard]] bool awaits_answers(NodeSet forgetting) const;
  /// Nothing is left to wait for.
  void end();
  [[nodiscard]] bool is_over() const noexcept { return over_; }

 private:
  const Instant& now_;
  Nodes& nodes_;
  std::optional<Instant> until_;
  Instant greet_until_ = Instant::min();
  std::array<std::uint8_t, limits::nodes> drops_{};
  NodeSet given_up_;
  bool over_ = false;
};

}  // namespace redlock::core
