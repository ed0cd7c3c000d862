#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/claim/claims.hpp"
#include "core/engine/outbox.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// A client that closes delivers what it owes, and how long it waits for that.
class Closing {
 public:
  Closing(const Instant& now, const Claims& claims, Nodes& nodes, Outbox& outbox)
      : now_(now), claims_(claims), nodes_(nodes), outbox_(outbox) {}

  void begin(Duration grace);
  /// Nothing new is asked for.
  [[nodiscard]] bool has_begun() const noexcept { return until_.has_value(); }
  /// Of the connections, only those that are of use yet are kept: to nodes to which something may
  /// be delivered, that are up, or that may be there in a moment.
  void keep_connections();
  void dropped(NodeIndex node);

  /// When it waits no more for something.
  [[nodiscard]] Instant deadline() const noexcept {
    if (over_) return never;
    return now_ < greet_until_ ? greet_until_ : until_.value_or(never);
  }
  [[nodiscard]] bool is_late() const noexcept { return until_ && now_ >= *until_; }
  /// `forgetting`: nodes that were asked to forget the client's name. `may_enrol`: some node may
  /// become a member yet.
  [[nodiscard]] bool must_wait(NodeSet forgetting, bool may_enrol) const;
  /// It waits for nothing more. Reports what was not delivered.
  void end();
  [[nodiscard]] bool is_over() const noexcept { return over_; }

 private:
  /// A detached lease still goes to nodes whose first contact is a moment away. A hung node is
  /// not waited for.
  [[nodiscard]] bool may_meet_nodes() const noexcept { return now_ < greet_until_; }
  [[nodiscard]] bool awaits_answers(NodeSet forgetting) const;
  /// Nodes that are still to get a release.
  [[nodiscard]] NodeSet to_be_delivered() const;
  void report_undelivered() const;

  const Instant& now_;
  const Claims& claims_;
  Nodes& nodes_;
  Outbox& outbox_;
  std::optional<Instant> until_;
  Instant greet_until_ = Instant::min();
  std::array<std::uint8_t, limits::nodes> drops_{};
  NodeSet given_up_;  ///< nothing more is delivered there
  bool over_ = false;
};

}  // namespace redlock::core
