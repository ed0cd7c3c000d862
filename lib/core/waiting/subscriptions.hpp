#pragma once

#include <array>
#include <optional>

#include "core/engine/outbox.hpp"
#include "core/engine/settings.hpp"
#include "core/nodes/node_set.hpp"
#include "core/nodes/nodes.hpp"
#include "core/randomness.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// From which nodes notifications arrive here, and whether they still do. A node that has said
/// nothing for long while somebody waits is probed; if it does not answer, the
/// subscription is made anew.
class Subscriptions {
 public:
  Subscriptions(const Settings& settings, const Instant& now, const Nodes& nodes, Outbox& outbox,
                Randomness& random)
      : settings_(settings), now_(now), nodes_(nodes), outbox_(outbox), random_(random) {}

  /// Subscribes to the nodes that take a subscription, and answers which those are.
  NodeSet subscribe();
  /// Nodes to whose channel this client is subscribed.
  [[nodiscard]] NodeSet open() const noexcept { return open_; }
  /// Nodes that can notify us now: they are up, too.
  [[nodiscard]] NodeSet notifying() const { return open_ & nodes_.up(); }
  /// What names this client in queues and channels: Settings::client_id, or as drawn where there is
  /// none. Empty before the first subscription.
  [[nodiscard]] const Token& client_id() const noexcept { return client_id_; }

  // --- events -----------------------------------------------------------------------------------
  /// The node confirmed it, or answered a probe. True: notifications arrive from now on.
  bool opened(NodeIndex node);
  void heard(NodeIndex node) noexcept;
  /// The node ended the subscription, or did not make it.
  void ended(NodeIndex node) noexcept;
  /// The connection to the node ended.
  void dropped(NodeIndex node);

  // --- silence ----------------------------------------------------------------------------------
  /// Nodes whose answer is overdue.
  [[nodiscard]] NodeSet silent() const;
  /// Gives up the subscription to a silent node. True: it was open, and can be made anew at once,
  /// since the node works for all that is known.
  bool give_up(NodeIndex node);
  /// Asks nodes that have said nothing for long for a word. For use while somebody waits.
  void probe();
  [[nodiscard]] Instant next_tending(bool somebody_waits) const;

 private:
  struct Subscription {
    bool wanted = false;                 ///< we have subscribed, whether it is open yet or not
    Instant retry_at = Instant::min();   ///< the node is not subscribed to before that
    Instant heard_at = Instant::min();   ///< the last word from the node
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
