#include <algorithm>

#include "core/engine.hpp"

/// A client's name on the nodes: for people, and no part of the algorithm. A node keeps it longer
/// than any lease of the client, so that a dead holder has a name as well. Nothing depends on
/// whether a node could write it.
namespace redlock::core {

void Engine::write_names(NodeSet nodes) {
  if (settings_.name.empty() || now_ < names_due_) return;
  NodeSet due;
  nodes.each([&](NodeIndex node) {
    Link& link = nodes_[node];
    if (!link.up() || link.congested() || now_ < link.name_due().value_or(now_)) return;
    link.plan_name(later(now_, name_kept_for(settings_.max_ttl) / 4));
    due.add(node);
  });
  names_due_ = Instant::max();
  for (const Link& link : nodes_) {
    if (link.up()) names_due_ = std::min(names_due_, link.name_due().value_or(now_));
  }
  if (!due.empty()) outbox_.send(SendUpkeep{{due, upkeep(Verb::write_name)}});
}

Instant Engine::next_name_writing() const {
  // Written with the first vote of a connection. A client that wants nothing lets it expire, and
  // its next vote writes it again.
  if (settings_.name.empty() || drain_until_) return never;
  if (claims_.size() == 0 && acquisitions_.size() == 0) return never;
  if (now_ < names_due_ && names_due_ < never) return names_due_;
  Instant next = never;
  for (const Link& link : nodes_) {
    if (link.up() && !link.congested()) next = std::min(next, link.name_due().value_or(never));
  }
  return next;
}

void Engine::write_names_due() {
  if (now_ < next_name_writing()) return;
  NodeSet written;
  nodes_.all().each([&](NodeIndex node) {
    if (nodes_[node].name_due()) written.add(node);
  });
  write_names(written);
}

void Engine::take_name_answer(const Answer& answer) {
  // Each refusal would be one more line in the server's ACL LOG.
  const bool for_good = answer.reply == Reply::error && answer.text.starts_with("NOPERM");
  if (for_good) nodes_[answer.node].plan_name(Instant::max());
}

}  // namespace redlock::core
