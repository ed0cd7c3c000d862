#include "core/waiting/subscriptions.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {
namespace {

/// How long until a node to which this client could not subscribe is tried again.
constexpr Duration subscribe_again_after = std::chrono::seconds(5);

/// While somebody waits, a subscription that has been silent for this long is probed.
constexpr Duration silence_until_probe = std::chrono::seconds(3);

}  // namespace

NodeSet Subscriptions::subscribe() {
  NodeSet able;
  NodeSet mute;
  nodes_.able().to_write.each([&](NodeIndex node) {
    Subscription& mine = all_[node];
    if (mine.retry_at > now_) return;
    able.add(node);
    if (mine.wanted) return;
    mine.wanted = true;
    mine.answer_by = later(now_, nodes_[node].contact->limit());
    mute.add(node);
  });
  if (mute.empty()) return able;
  if (client_id_.empty()) {
    const Token drawn = random_.token();
    client_id_ = Token::parse(settings_.client_id).value_or(drawn);
  }
  outbox_.emit(Subscribe{mute});
  return able;
}

bool Subscriptions::opened(NodeIndex node) {
  heard(node);
  if (!all_[node].wanted || open_.has(node)) return false;
  open_.add(node);
  return true;
}

void Subscriptions::heard(NodeIndex node) noexcept {
  all_[node].heard_at = now_;
  all_[node].answer_by.reset();
}

void Subscriptions::ended(NodeIndex node) noexcept {
  all_[node] = Subscription();
  all_[node].retry_at = later(now_, subscribe_again_after);
  open_.remove(node);
}

void Subscriptions::dropped(NodeIndex node) {
  Subscription& mine = all_[node];
  if (mine.wanted) outbox_.emit(Unsubscribe{node});
  mine.wanted = false;
  mine.answer_by.reset();
  open_.remove(node);
}

NodeSet Subscriptions::silent() const {
  NodeSet silent;
  nodes_.all().each([&](NodeIndex node) {
    if (all_[node].answer_by && now_ >= *all_[node].answer_by) silent.add(node);
  });
  return silent;
}

bool Subscriptions::give_up(NodeIndex node) {
  const bool was_open = open_.has(node);
  outbox_.emit(Unsubscribe{node});
  ended(node);
  if (was_open) all_[node].retry_at = now_;
  return was_open;
}

Instant Subscriptions::probe_at(NodeIndex node) const {
  return later(all_[node].heard_at, silence_until_probe);
}

void Subscriptions::probe() {
  NodeSet probed;
  open_.each([&](NodeIndex node) {
    if (all_[node].answer_by || now_ < probe_at(node)) return;
    all_[node].answer_by = later(now_, settings_.longest_limit);
    probed.add(node);
  });
  if (!probed.empty()) outbox_.emit(ProbeSubscription{probed});
}

Instant Subscriptions::next_tending(bool somebody_waits) const {
  Instant next = never;
  nodes_.all().each([&](NodeIndex node) {
    if (all_[node].answer_by) {
      next = std::min(next, *all_[node].answer_by);
    } else if (somebody_waits && open_.has(node)) {
      next = std::min(next, probe_at(node));
    }
  });
  return next;
}

}  // namespace redlock::core
