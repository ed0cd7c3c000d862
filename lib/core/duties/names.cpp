#include "core/duties/names.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {

void Names::write_where_due(NodeSet nodes) {
  NodeSet due;
  nodes.each([&](NodeIndex node) {
    const Link& link = nodes_[node];
    if (!link.up() || link.in_flight->congested() || now_ < due_[node].value_or(now_)) return;
    due_[node] = later(now_, kept() / 4);
    due.add(node);
  });
  next_ = never;
  nodes_.up().each([&](NodeIndex node) { next_ = std::min(next_, due_[node].value_or(now_)); });
  if (!due.empty()) send(due);
}

void Names::send(NodeSet nodes) {
  Terms& terms = outbox_.send(nodes, Stamp(Verb::write_name));
  terms.name = settings_.name;
  terms.client = settings_.client_id;
  terms.ttl = kept();
}

Instant Names::next_writing() const {
  if (settings_.name.empty()) return never;
  if (now_ < next_ && next_ < never) return next_;
  Instant next = never;
  nodes_.up().each([&](NodeIndex node) {
    if (!nodes_[node].in_flight->congested()) next = std::min(next, due_[node].value_or(never));
  });
  return next;
}

void Names::write_again() {
  if (now_ < next_writing()) return;
  NodeSet written;
  nodes_.all().each([&](NodeIndex node) {
    if (due_[node]) written.add(node);
  });
  write(written);
}

Duration Names::kept() const noexcept {
  // Deleting the name would take a command that the user may lack.
  return forgets_ ? std::chrono::milliseconds(1) : name_kept_for(longest_lease_);
}

void Names::outlast(Duration lease) {
  const Duration before = kept();
  longest_lease_ = std::max(longest_lease_, lease);
  if (kept() == before) return;
  nodes_.all().each([&](NodeIndex node) {
    if (!has_it(node)) return;
    due_[node] = now_;
    next_ = std::min(next_, now_);
  });
}

void Names::forget() {
  if (settings_.name.empty() || detached_) return;
  forgets_ = true;
  nodes_.up().each([&](NodeIndex node) {
    if (has_it(node) && !nodes_[node].in_flight->congested()) forgetting_.add(node);
  });
  if (forgetting_.empty()) return;
  send(forgetting_);
}

void Names::answered(const Answer& answer) {
  forgetting_.remove(answer.node);
  // Each refusal would be one more line in the server's ACL LOG.
  const bool for_good = answer.reply == Reply::error && answer.text.starts_with("NOPERM");
  if (for_good) due_[answer.node] = never;
}

}  // namespace redlock::core
