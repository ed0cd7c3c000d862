#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/vocabulary/permits.hpp"
#include "core/waiting/wait_queue.hpp"

/// Reports of nodes: they have queued this client, notify it, or no longer do.
namespace redlock::core {
namespace {

/// How often sleeping waiters are planned anew while nodes keep queueing this client.
constexpr Duration planned_again_after = std::chrono::milliseconds(500);

}  // namespace

void WaitQueue::answered(NodeIndex node, const Stamp& stamp, const Answer& answer) {
  WaitedKeys::Entry* const entry = keys_.find(stamp.key());
  if (answer.reply == Reply::script_missing) {
    if (entry != nullptr) queues_.send_in_full(*entry, node, stamp);
    return;
  }
  if (stamp.verb == Verb::leave_queue) return;
  const bool checks = stamp.verb == Verb::check_queue;
  if (checks && entry != nullptr) entry->second.checking.remove(node);
  const bool queued = answer.reply == Reply::taken || answer.reply == Reply::gone;
  if (entry == nullptr || !queued || !entry->second.asked.has(node)) return;
  const bool was_first = !entry->second.first.empty();
  queues_.note_position(*entry, answer);
  if (checks) {
    const bool is_free = answer.reply == Reply::gone;
    if (queues_.note_check(*entry, node, is_free)) found_free(entry->second);
    return;
  }
  if (!answer.is_first) note_behind(entry->second);
  if (answer.reply == Reply::gone) note_notified(entry->second, node);
  if (!entry->second.waiters.empty()) queues_.raise_tickets(*entry);
  const bool becomes_first = !was_first && !entry->second.first.empty();
  if (answer.reply == Reply::gone) return plan_waiters(entry->second, Planning::all);
  plan_waiters(entry->second, becomes_first ? Planning::first : Planning::awake);
}

void WaitQueue::found_free(WaitedKeys::Key& key) {
  // note_check() reports a quorum once. If the first waiter makes an attempt, or none waits, later
  // checks report it again.
  key.free = NodeSet();
  keys_.each_waiter(key, [&](const Acquisition& first) {
    const bool waits = first.state == Acquisition::State::backing_off;
    if (waits) woken_.push_back({first.index, now_, true});
    return Visited::enough;
  });
}

void WaitQueue::note_turn(const WaitedKeys::Key& key) {
  if (key.need_more == 0) return;
  keys_.each_waiter(key, [](Acquisition& acquisition) {
    acquisition.waiting.by(me).has_turn = true;
    return Visited::more;
  });
}

void WaitQueue::note_behind(const WaitedKeys::Key& key) {
  if (kept_ == 0 || key.need_more == 0) return;
  keys_.each_waiter(key, [&](Acquisition& acquisition) {
    Waiting& waiting = acquisition.waiting.by(me);
    if (waiting.is_behind || !waiting.keeps_any()) return Visited::more;
    waiting.is_behind = true;
    leave_unkept(acquisition, waiting.blocked_by);
    // The resource will go to others first: the turn is no longer than the shortest one.
    waiting.turn_until = std::min(waiting.turn_until, later(waiting.turn_began, reserved_for()));
    if (acquisition.state == Acquisition::State::backing_off) {
      woken_.push_back({acquisition.index, waiting.plan.next_try});
    }
    return Visited::more;
  });
}

void WaitQueue::plan_waiters(WaitedKeys::Key& key, Planning who) {
  // Sleeping waiters are planned anew only now and then. For each answer, a thousand of them would
  // cost more than the hand-over itself.
  const bool again = who == Planning::all || now_ >= later(key.planned_at, planned_again_after);
  if (again) key.planned_at = now_;
  if (!again && !key.has_awake && who == Planning::awake) return;
  const bool only_first = !again && !key.has_awake;
  key.has_awake = false;
  // One of our waiters is enough to find out, unless several can be let in.
  bool is_notified = false;
  keys_.each_waiter(key, [&](Acquisition& acquisition) {
    const Visited visited = only_first ? Visited::enough : Visited::more;
    const bool is_first = std::exchange(who, Planning::awake) != Planning::awake;
    if (acquisition.state != Acquisition::State::backing_off || acquisition.waiting->retry_at)
      return visited;
    // A notification may have overtaken the answer that we are queued.
    const bool is_due = !is_notified && schedule_.is_notified_by_quorum(acquisition);
    is_notified = is_notified || (is_due && !acquisition.makes_room());
    if (!again && !is_first && !is_due && acquisition.waiting->plan.asleep) return visited;
    if (schedule_.will_be_notified(acquisition)) {
      schedule_.wait_in_turn(acquisition);
      woken_.push_back({acquisition.index, Instant::max(), true});
    } else {
      key.has_awake = true;
    }
    return visited;
  });
}

void WaitQueue::tracked(const std::string& key, NodeIndex node, bool is_gone) {
  WaitedKeys::Entry* const entry = keys_.find(key);
  if (entry == nullptr) return;
  // The key may be gone because we have released it.
  if (is_gone) return changed(*entry, node, Waked::in_turn);
  plan_waiters(entry->second, Planning::awake);
}

void WaitQueue::changed(const std::string& key, NodeIndex node) {
  WaitedKeys::Entry* const entry = keys_.find(key);
  if (entry != nullptr) changed(*entry, node, Waked::by_change);
}

void WaitQueue::changed(WaitedKeys::Entry& entry, NodeIndex node, Waked how) {
  if (entry.second.waiters.empty()) return;
  // Every client that waits for the key learns of the change. The first in the queue asks; the
  // others ask if it does not come.
  const bool is_first = !entry.second.first.empty() || entry.second.queued.empty();
  if (is_first) note_notified(entry.second, node, how);
  wake(entry.second, is_first ? 0 : 1, true, how);
}

void WaitQueue::subscribed(NodeIndex node) {
  if (!subscriptions_.opened(node) || !nodes_[node].up()) return;
  for (WaitedKeys::Entry& entry : keys_.all()) {
    if (!entry.second.waiters.empty()) queues_.join(entry, NodeSet::of(node));
  }
}

void WaitQueue::tend() {
  subscriptions_.silent().each([this](NodeIndex node) {
    const bool was_open = subscriptions_.give_up(node);
    lost(node);
    if (was_open && queued_ > 0) static_cast<void>(subscriptions_.subscribe());
  });
  if (queued_ > 0) subscriptions_.probe();
}

void WaitQueue::notified_of_permit(const Notification& event) {
  WaitedKeys::Entry* const queue = keys_.find(permits_prefix(event.key));
  const std::uint32_t permit = permit_number(event.key);
  if (queue->second.waiters.empty()) {
    // The notification is outdated: we were granted this permit after other nodes had notified us.
    if (queue->second.granted_permit == permit && queue->second.late.has(event.node)) {
      return queue->second.late.remove(event.node);
    }
    const WaitedKeys::Entry& reserved = keys_.note(event.key);
    keys_.forget_later(reserved.second);
    return queues_.leave_quietly(reserved, event.node);
  }
  queue->second.contended_at = now_;
  keys_.each_waiter(queue->second, [&](Acquisition& first) {
    if (permit < first.free_permits->size()) ++first.free_permits.by(me)[permit];
    return Visited::enough;
  });
  note_notified(queue->second, event.node);
  wake(queue->second, event.before, true);
}

bool WaitQueue::note_standby(WaitedKeys::Key& key, NodeIndex node) {
  key.watched_on.add(node);
  bool has_just_asked = false;
  keys_.each_waiter(key, [&](const Acquisition& first) {
    has_just_asked = first.state == Acquisition::State::in_round ||
                     now_ < later(first.refusal->began, reserved_for());
    return Visited::enough;
  });
  if (has_just_asked && key.watched_on.size() < settings_.quorum) return false;
  key.watch_until = later(now_, reserved_for() + std::chrono::milliseconds(1));
  return true;
}

void WaitQueue::notified(const Notification& event) {
  subscriptions_.heard(event.node);
  if (const auto any = any_permit_of(event.key)) {
    const WaitedKeys::Entry* const queue = keys_.find(*any);
    if (queue != nullptr && queue->second.permits > 0) return notified_of_permit(event);
  }
  WaitedKeys::Entry* const entry = &keys_.note(event.key);
  if (event.before > 0 && !note_standby(entry->second, event.node)) return;
  if (entry->second.waiters.empty()) {
    keys_.forget_later(entry->second);
    if (event.before == 0) queues_.give_back(*entry, event.node);
    return;
  }
  entry->second.contended_at = now_;
  if (event.before == 0) {
    // The node has taken this client out of its queue. A caller that keeps the resource joins that
    // queue again after its next attempt.
    if (entry->second.kept > 0) entry->second.asked.remove(event.node);
    note_notified(entry->second, event.node);
    note_turn(entry->second);
  }
  wake(entry->second, event.before, true);
}

void WaitQueue::unsubscribed(NodeIndex node) {
  subscriptions_.ended(node);
  lost(node);
}

void WaitQueue::dropped(NodeIndex node) {
  subscriptions_.dropped(node);
  lost(node);
}

void WaitQueue::lost(NodeIndex node) {
  const NodeSet notifying = subscriptions_.notifying();
  affected_.clear();
  for (auto& [name, key] : keys_.all()) {
    ++visited_;
    key.forget(node);
    // A quorum still notifies the waiters of this key.
    if ((key.queued & notifying).size() >= settings_.quorum) continue;
    keys_.each_waiter(key, [&](const Acquisition& acquisition) {
      affected_.push_back(acquisition.index);
      return Visited::more;
    });
  }
  // Each waiter once, in the order of their slots.
  std::sort(affected_.begin(), affected_.end());
  affected_.erase(std::unique(affected_.begin(), affected_.end()), affected_.end());
  for (const std::uint32_t index : affected_) {
    const Acquisition& acquisition = keys_.waiter(index);
    const bool asleep = acquisition.state == Acquisition::State::backing_off;
    if (!asleep || !schedule_.can_be_notified(acquisition) ||
        schedule_.will_be_notified(acquisition))
      continue;
    // The waiter may have missed its notification. An attempt that is due soon is not put off:
    // nodes can come and go more often than that.
    woken_.push_back({acquisition.index, acquisition.waiting->plan.next_try});
  }
}

}  // namespace redlock::core
