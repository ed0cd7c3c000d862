#include <algorithm>
#include <chrono>

#include "core/waiting/wait_queue.hpp"

/// When a waiting acquisition asks again.
namespace redlock::core {
namespace {

/// Where nodes do not agree whose turn it is, they may do so a moment later; and who is second
/// waits for the first to come.
constexpr Duration shortest_patience = std::chrono::milliseconds(1);
/// An attempt that goes on being refused waits longer and longer for the rest of the nodes.
constexpr Duration longest_patience = std::chrono::milliseconds(64);

/// The shortest pause between attempts to be quicker than other libraries' clients.
constexpr Duration eager_pause = std::chrono::milliseconds(5);

}  // namespace

Plan WaitQueue::plan(Acquisition& acquisition, Instant at_latest) {
  Waiting& waiting = acquisition.waiting;
  const Refusal& refusal = acquisition.refusal;
  const bool is_notified = will_be_notified(acquisition);
  if (is_notified && !others_try(acquisition)) heed_notifications(acquisition);
  const bool sleeps = is_notified && refusal.why == Errc::held;
  // Nodes choose a watcher for the reservations of a while. One that is made later may be in its
  // way when it asks; of what is reserved after that, another one is told.
  const bool is_asker = is_first(acquisition) || waiting.watches;
  // No release marks the end of an interval: the first client in the queue asks. That client may
  // have gone, so the others ask a moment later.
  const bool sits_out = sleeps && !is_asker && refusal.obstacle == Obstacle::interval;
  const Outlook outlook{acquisition.failed_attempts, nodes_.quorum_round_trip(), sleeps,
                        is_asker || sits_out};
  Instant next = next_try(now_, refusal, outlook, random_);
  if (sits_out) next = later(next, reserved_for_);
  next = std::min({next, waiting.retry_at.value_or(at_latest), at_latest});
  if (is_eager(acquisition)) {
    next = std::min(next, later(now_, random_.between(eager_pause, 2 * eager_pause)));
  }
  waiting.plan = {next, sleeps && !waiting.retry_at};
  if (waiting.queued && !waiting.plan.asleep) find_queue(acquisition)->second.has_awake = true;
  return waiting.plan;
}

bool WaitQueue::can_be_notified(const Acquisition& acquisition) const {
  const Refusal& refusal = acquisition.refusal;
  if (refusal.why == Errc::split) {
    // Two that exclude each other, notified of what both gave back, would divide it again. With a
    // ticket it is passed on to one of them, and readers do not exclude each other.
    const Kind kind = acquisition.terms.kind();
    return acquisition.waiting.has_ticket || kind == Kind::shared || kind == Kind::several ||
           refusal.is_beside;
  }
  if (refusal.why != Errc::held) return false;
  return !refusal.is_foreign || tracked_.able().size() >= settings_.quorum;
}

bool WaitQueue::will_be_notified(const Acquisition& acquisition) {
  if (!acquisition.waiting.queued || !can_be_notified(acquisition)) return false;
  const WaitedKeys::Entry& entry = *find_queue(acquisition);
  NodeSet nodes = subscriptions_.notifying() & entry.second.queued;
  if (acquisition.refusal.is_foreign) {
    const TrackedKeys::Entry* const tracked = tracked_.find(entry.first);
    nodes = nodes & (tracked != nullptr ? tracked->second.tracking : NodeSet());
  }
  return nodes.size() >= settings_.quorum;
}

bool WaitQueue::is_notified_by_quorum(const Acquisition& acquisition) const {
  // With a ticket, what was granted is passed on to who is first.
  const NodeSet granted = acquisition.waiting.has_ticket ? NodeSet() : acquisition.refusal.granted;
  return (acquisition.waiting.notified_by | granted).size() >= settings_.quorum;
}

void WaitQueue::heed_notifications(Acquisition& acquisition) {
  // One node is enough where other libraries' clients would take what became free.
  const bool is_hurried = acquisition.waiting.saw_change && acquisition.refusal.is_beside;
  if (is_notified_by_quorum(acquisition) || is_hurried) {
    acquisition.waiting.retry_at = now_;
  } else if (is_in_turn(acquisition) && !acquisition.waiting.retry_at) {
    wait_for_others(acquisition);
  }
  watch(acquisition, find_queue(acquisition)->second);
}

bool WaitQueue::is_in_turn(const Acquisition& acquisition) {
  // A key that changed says less than a turn: it may be another library's again.
  return !acquisition.waiting.notified_by.empty() && !acquisition.waiting.tracks;
}

bool WaitQueue::others_try(const Acquisition& acquisition) {
  if (acquisition.makes_room()) return false;
  bool others = false;
  each_waiter(find_queue(acquisition)->second, [&](const Acquisition& other) {
    // A writer is not kept waiting by readers that try: they are refused until it had its turn.
    const bool tries = other.state == Acquisition::State::in_round && !other.makes_room();
    others = &other != &acquisition && tries;
    return others ? Visited::enough : Visited::more;
  });
  return others;
}

bool WaitQueue::is_first(const Acquisition& acquisition) {
  const bool of_permits = acquisition.terms.traits().is_chosen && acquisition.waiting.queued;
  if (of_permits) return is_first_for_permit(acquisition);
  if (!acquisition.waiting.has_ticket) return true;  // as far as is known here
  return !find_queue(acquisition)->second.first.empty();
}

bool WaitQueue::is_first_for_permit(const Acquisition& acquisition) {
  const WaitedKeys::Key& key = find_queue(acquisition)->second;
  bool is_ours = false;
  each_waiter(key, [&](const Acquisition& first) {
    is_ours = &first == &acquisition;
    return Visited::enough;
  });
  return is_ours && !key.first.empty();
}

bool WaitQueue::is_eager(const Acquisition& acquisition) {
  return acquisition.refusal.is_beside && is_first(acquisition) &&
         tracked_.able().size() < settings_.quorum;
}

void WaitQueue::wait_for_others(Acquisition& acquisition) {
  const Duration once = std::max(shortest_patience, 2 * nodes_.quorum_round_trip());
  // At last it is longer than a reservation: what is passed to us again and again, while others
  // have the rest, has to be passed to them.
  const Duration usual = std::max(longest_patience, 2 * reserved_for_);
  // Not where another library would take it.
  const Duration longest = acquisition.refusal.is_beside ? kept_for / 4 : usual;
  const unsigned doublings = std::min(acquisition.failed_attempts, 14U) / 2;
  const Duration patience = std::max(once, std::min(once * (1 << doublings), longest));
  const Instant retry = later(now_, random_.between(patience, 2 * patience));
  acquisition.waiting.retry_at = std::min(retry, acquisition.waiting.retry_at.value_or(retry));
}

void WaitQueue::watch(Acquisition& acquisition, WaitedKeys::Key& key) {
  Waiting& waiting = acquisition.waiting;
  const Instant until = std::exchange(key.watch_until, Instant::min());
  const bool is_over = later(until, reserved_for_) < now_;
  if (!is_over) waiting.watch_until = std::max(waiting.watch_until, until);
  if (waiting.watch_until == Instant::min()) return;
  waiting.retry_at = std::min(waiting.watch_until, waiting.retry_at.value_or(never));
}

}  // namespace redlock::core
