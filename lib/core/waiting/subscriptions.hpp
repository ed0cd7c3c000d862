#pragma once

#include <array>
#include <optional>

#include "core/nodes/nodes.hpp"
#include "core/nodes/outbox.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/randomness.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// Keeps the subscriptions to the nodes' notifications, and the client's name in queues. While
/// somebody waits, a node that has said nothing for long is probed; if it does not answer, the
/// subscription is made anew. Does not know who waits, or for what.
class Subscriptions {
 public:
  Subscriptions(const Settings& settings, const Instant& now, const Nodes& nodes, Outbox& outbox,
                Randomness& random)
      : settings_(settings), now_(now), nodes_(nodes), outbox_(outbox), random_(random) {}

  /// Subscribes to the nodes that take a subscription, and returns those nodes.
  NodeSet subscribe();
  /// Nodes to whose channel this client is subscribed.
  [[nodiscard]] NodeSet open() const noexcept { return open_; }
  /// Nodes that can notify us now: those of open() that are up.
  [[nodiscard]] NodeSet notifying() const { return open_ & nodes_.up(); }
  /// The name of this client in queues and channels: Settings::client_id, or a random one if there
  /// is none. Empty before the first subscription.
  [[nodiscard]] const Token& client_id() const noexcept { return client_id_; }

  // --- events -----------------------------------------------------------------------------------
  /// The node confirmed the subscription, or answered a probe. Returns true if notifications arrive
  /// from now on.
  bool opened(NodeIndex node);
  void heard(NodeIndex node) noexcept;
  /// The node ended the subscription, or did not make it.
  void ended(NodeIndex node) noexcept;
  /// The connection to the node ended.
  void dropped(NodeIndex node);

  // --- silence ----------------------------------------------------------------------------------
  /// Nodes whose answer is overdue.
  [[nodiscard]] NodeSet silent() const;
  /// Gives up the subscription to a silent node. Returns true if the subscription was open: it can
  /// be made anew at once, because the node works as far as is known.
  bool give_up(NodeIndex node);
  /// Probes nodes that have said nothing for long. For use while somebody waits.
  void probe();
  /// When silent() or probe() next has something to do.
  [[nodiscard]] Instant next_tending(bool somebody_waits) const;

 private:
  struct Subscription {
    bool wanted = false;  ///< we have subscribed, even if the node has not confirmed it
    Instant retry_at = Instant::min();   ///< no new subscription to the node before this instant
    Instant heard_at = Instant::min();   ///< when the node last said something
    std::optional<Instant> answer_by{};  ///< by when a confirmation or an answer is due
  };
  [[nodiscard]] Instant probe_at(NodeIndex node) const;

  const Settings& settings_;
  const Instant& now_;
  const Nodes& nodes_;
  Outbox& outbox_;
  Randomness& random_;
  std::array<Subscription, limits::nodes> all_{};
  NodeSet open_;
  Token client_id_;
};

}  // namespace redlock::core
