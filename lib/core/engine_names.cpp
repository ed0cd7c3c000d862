#include <algorithm>

#include "core/engine.hpp"

/// A client's name on the nodes: for people, and no part of the algorithm. A node keeps it longer
/// than any lease that the client asked for, so that a dead holder has a name as well. A client
/// that closes and leaves no lease takes it along. Nothing depends on whether a node could write
/// it.
namespace redlock::core {

void Engine::write_names(NodeSet nodes) {
  if (settings_.name.empty() || now_ < names_due_ || forgets_names_) return;
  NodeSet due;
  nodes.each([&](NodeIndex node) {
    Link& link = nodes_[node];
    if (!link.up() || link.congested() || now_ < link.name_due().value_or(now_)) return;
    link.plan_name(later(now_, name_kept() / 4));
    due.add(node);
  });
  names_due_ = Instant::max();
  for (const Link& link : nodes_) {
    if (link.up()) names_due_ = std::min(names_due_, link.name_due().value_or(now_));
  }
  if (!due.empty()) send_name(due);
}

void Engine::send_name(NodeSet nodes) {
  Request request{nodes, upkeep(Verb::write_name)};
  request.terms.name = settings_.name;
  request.terms.client = settings_.client_id;
  request.terms.ttl = name_kept();
  outbox_.send(request);
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

Duration Engine::name_kept() const noexcept {
  // To delete it would take a command that the user may lack.
  return forgets_names_ ? std::chrono::milliseconds(1) : name_kept_for(named_lease_);
}

/// A longer lease than any before: the next request of the node, or of the lease, finds the name
/// due.
void Engine::cover_by_name(Duration lease) {
  const Duration before = name_kept();
  named_lease_ = std::max(named_lease_, lease);
  if (name_kept() == before) return;
  for (Link& link : nodes_) {
    if (!link.named()) continue;
    link.plan_name(now_);
    names_due_ = std::min(names_due_, now_);
  }
}

void Engine::forget_names() {
  if (settings_.name.empty() || detached_) return;
  forgets_names_ = true;
  nodes_.all().each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    if (link.up() && link.named() && !link.congested()) forgetting_name_.add(node);
  });
  if (forgetting_name_.empty()) return;
  send_name(forgetting_name_);
}

void Engine::take_name_answer(const Answer& answer) {
  forgetting_name_.remove(answer.node);
  // Each refusal would be one more line in the server's ACL LOG.
  const bool for_good = answer.reply == Reply::error && answer.text.starts_with("NOPERM");
  if (for_good) nodes_[answer.node].plan_name(Instant::max());
}

}  // namespace redlock::core
