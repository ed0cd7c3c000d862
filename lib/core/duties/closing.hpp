#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/claim/claims.hpp"
#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// Decides for how long a client that closes waits, and for which nodes, so that they receive the
/// releases it owes. Never waits longer than the grace that begin() was given, and sends no
/// requests.
class Closing {
 public:
  Closing(const Instant& now, const Claims& claims, Nodes& nodes, Outbox& outbox)
      : now_(now), claims_(claims), nodes_(nodes), outbox_(outbox) {}

  void begin(Duration grace);
  /// Whether the client closes, and therefore starts nothing new.
  [[nodiscard]] bool has_begun() const noexcept { return until_.has_value(); }
  /// Keeps only connections that are still of use: to nodes that are up, that return at this
  /// moment, or to which a release may be delivered. Stops connecting to the others.
  void keep_connections();
  /// A connection to the node ended. After several of them, the node is given up.
  void dropped(NodeIndex node);

  /// When the client next gives up waiting: first for first contacts, then for everything.
  [[nodiscard]] Instant deadline() const noexcept {
    if (over_) return never;
    return now_ < greet_until_ ? greet_until_ : until_.value_or(never);
  }
  [[nodiscard]] bool is_late() const noexcept { return until_ && now_ >= *until_; }
  /// Whether the client still waits. `forgetting`: nodes that were asked to forget the client's
  /// name. `may_enrol`: whether some node can still become a member.
  [[nodiscard]] bool must_wait(NodeSet forgetting, bool may_enrol) const;
  /// Ends the waiting, and reports what was not delivered.
  void end();
  [[nodiscard]] bool is_over() const noexcept { return over_; }

 private:
  static constexpr By<Closing> me{};

  /// Whether there is still time for first contacts: a detached lease goes to nodes that come up a
  /// moment later. The client does not wait for a hung node.
  [[nodiscard]] bool may_meet_nodes() const noexcept { return now_ < greet_until_; }
  [[nodiscard]] bool awaits_answers(NodeSet forgetting) const;
  /// Nodes to which a release is still to be delivered.
  [[nodiscard]] NodeSet to_be_delivered() const;
  void report_undelivered() const;

  const Instant& now_;
  const Claims& claims_;
  Nodes& nodes_;
  Outbox& outbox_;
  std::optional<Instant> until_;  ///< when to give up everything; none: the client does not close
  Instant greet_until_ = Instant::min();  ///< when to give up first contacts
  /// For each node: its connections that ended during the close.
  std::array<std::uint8_t, limits::nodes> drops_{};
  NodeSet given_up_;  ///< nodes to which nothing more is delivered
  bool over_ = false;
};

}  // namespace redlock::core
