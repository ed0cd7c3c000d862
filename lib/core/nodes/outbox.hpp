#pragma once

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "core/nodes/nodes.hpp"
#include "core/vocabulary/commands.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "support/assert.hpp"

namespace redlock::core {

/// The commands of one step. The only place that emits a request, and that enters it among the
/// requests in flight on its connection: each answer finds exactly one entry.
class Outbox {
 public:
  explicit Outbox(Nodes& nodes) : nodes_(nodes) {}

  /// A step begins: its commands are appended to `commands`.
  void open(Instant now, std::vector<Command>& commands) noexcept {
    now_ = now;
    commands_ = &commands;
  }
  void close() noexcept { commands_ = nullptr; }

  /// A command that sends no request.
  template <class Message>
  void emit(const Message& message) {
    static_assert(!std::is_same_v<Request, Message>, "send() enters it");
    commands_->emplace_back(message);
  }

  /// A request to each of these nodes, which are up. The caller fills in the terms. The reference
  /// is valid until the next send() or emit().
  Terms& send(NodeSet nodes, const Stamp& stamp, ScriptForm form = ScriptForm::digest) {
    REDLOCK_ASSERT(!nodes.empty());
    nodes.each([&](NodeIndex node) { nodes_[node].sent(me, stamp, now_); });
    Command& command = commands_->emplace_back(std::in_place_type<Request>);
    auto& request = *std::get_if<Request>(&command);
    request.nodes = nodes;
    request.stamp = stamp;
    request.form = form;
    return request.terms;
  }
  /// Reads the markers of these nodes, which are up: after votes, or to confirm them. At a
  /// replicated node, a marker proves nothing without the reign. While the reign does not stand,
  /// only those who ask for it wait for its followers: the answers of others would be overdue.
  void read_markers(NodeSet nodes, const Stamp& stamp, bool for_reign = false) {
    NodeSet plain = nodes;
    nodes.each([&](NodeIndex node) {
      if (!nodes_[node].reign->is_replicated()) return;
      plain.remove(node);
      Terms& terms = send(NodeSet::of(node), stamp.with(Verb::read_reign));
      const Reign& reign = *nodes_[node].reign;
      const bool waits = reign.stands() || for_reign;
      terms.acknowledgements = waits ? reign.wanted() : reign.needed();
      // The answer is not to be overdue because of servers that do not follow.
      terms.within = waits ? nodes_[node].in_flight->limit() / 4 : Duration::zero();
    });
    if (!plain.empty()) send(plain, stamp);
  }

 private:
  static constexpr By<Outbox> me{};

  Nodes& nodes_;
  std::vector<Command>* commands_ = nullptr;
  Instant now_{};
};

}  // namespace redlock::core
