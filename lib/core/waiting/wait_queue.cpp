#include "core/waiting/wait_queue.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::core {
namespace {

/// Visits those of several resources that the acquisition keeps: they were passed on to it in this
/// turn, and it waits for another one.
template <typename Visit>
void each_kept(const Acquisition& acquisition, Visit&& visit) {
  const Waiting& waiting = acquisition.waiting;
  for (std::uint64_t which = 1; which <= waiting.positions.size(); ++which) {
    if (waiting.keeps(which)) visit(which);
  }
}

bool is_reader(const Acquisition& acquisition) { return acquisition.terms->kind() == Kind::shared; }

bool needs_more(const Acquisition& acquisition) {
  return acquisition.terms->kind() == Kind::several;
}

/// Whether locks of other libraries have the resource, or some of its nodes.
bool meets_foreign_locks(const Acquisition& acquisition) {
  const Refusal& refusal = acquisition.refusal;
  const bool is_divided = refusal.why == Errc::split && refusal.is_among_foreign;
  return refusal.is_foreign || (is_divided && !acquisition.terms->traits().is_chosen);
}

}  // namespace

WaitQueue::WaitQueue(const Settings& settings, const Nodes& nodes, Outbox& outbox,
                     Pool<Acquisition>& acquisitions, TrackedKeys& tracked,
                     TrackedKeys& tracked_queues, Randomness& random)
    : settings_(settings),
      nodes_(nodes),
      tracked_(tracked),
      keys_(acquisitions),
      subscriptions_(settings, now_, nodes, outbox, random),
      queues_(settings, now_, nodes, subscriptions_, keys_, tracked, tracked_queues, outbox),
      schedule_(settings, now_, nodes, subscriptions_, queues_, tracked, keys_, random) {}

void WaitQueue::try_again(Acquisition& acquisition) {
  NodeSet& notified = acquisition.waiting.by(me).notified_by;
  const bool may_be_out = !can_have_ticket(acquisition);
  if (acquisition.waiting->queued) {
    WaitedKeys::Key& key = keys_.find_for(acquisition)->second;
    key.free = key.watched_on = NodeSet();
  }
  if (acquisition.waiting->queued && may_be_out) {
    // These nodes are asked again after this attempt. Until then, our other waiters stay asleep.
    WaitedKeys::Key& key = keys_.find_for(acquisition)->second;
    key.asked = key.asked - notified;
    each_kept(acquisition, [&](std::uint64_t which) {
      WaitedKeys::Key& kept = keys_.find(acquisition.terms->resource_at(which))->second;
      kept.asked = kept.asked - notified;
    });
  }
  notified = NodeSet();
  acquisition.waiting.by(me).plan.asleep = acquisition.waiting.by(me).saw_change = false;
  acquisition.waiting.by(me).watches = acquisition.waiting->watch_until > Instant::min();
  if (acquisition.waiting->watch_until <= now_)
    acquisition.waiting.by(me).watch_until = Instant::min();
  acquisition.waiting.by(me).retry_at.reset();
}

bool WaitQueue::join(Acquisition& acquisition) {
  Waiting& waiting = acquisition.waiting.by(me);
  const Refusal& refusal = acquisition.refusal;
  // In the queue, the acquisition keeps what it is granted; otherwise another library's clients
  // would take it.
  const bool keeps = refusal.is_among_foreign && can_have_ticket(acquisition);
  if (!keeps && !schedule_.can_be_notified(acquisition)) return false;
  if (needs_more(acquisition)) {
    // If no node names a resource, the acquisition waits for the same one as before.
    const std::uint64_t before = std::max<std::uint64_t>(waiting.blocked_by, 1);
    const std::uint64_t blocking = refusal.resource > 0 ? refusal.resource : before;
    if (blocking != waiting.blocked_by) wait_for_another(acquisition, blocking);
  }
  const NodeSet able = subscriptions_.subscribe();
  each_kept(acquisition, [&](std::uint64_t which) {
    // Nodes that have lost our position in a kept queue are asked again.
    WaitedKeys::Entry& kept = *keys_.find(acquisition.terms->resource_at(which));
    queues_.join(kept, able - kept.second.asked);
  });
  waiting.reserved = waiting.reserved || (acquisition.reserves && refusal.is_another_group);
  WaitedKeys::Entry& entry = keys_.note_for(acquisition);
  if (!waiting.queued) begin_to_wait(acquisition, entry.second);
  queues_.renew(entry, able);
  if (!meets_foreign_locks(acquisition)) return true;
  // A node sends one notification for each request.
  if (std::exchange(waiting.tracks, true)) {
    tracked_.ask(*tracked_.find(entry.first));
  } else {
    tracked_.use(entry.first);
  }
  return true;
}

void WaitQueue::begin_to_wait(Acquisition& acquisition, WaitedKeys::Key& key) {
  Waiting& waiting = acquisition.waiting.by(me);
  waiting.arrival = ++arrivals_;
  waiting.queued = true;
  ++queued_;
  key.waiters.add(waiting.arrival, acquisition.index);
  count_queued(key, acquisition, 1);
  // The acquisition came back to this resource: restores the ticket that it had.
  const bool has_been_here = waiting.blocked_by > 0 && !waiting.positions.empty();
  if (has_been_here && key.ticket == 0)
    key.ticket = waiting.positions[waiting.blocked_by - 1].ticket;
}

void WaitQueue::wait_for_another(Acquisition& acquisition, std::uint64_t blocking) {
  Waiting& waiting = acquisition.waiting.by(me);
  waiting.positions.resize(acquisition.terms->more_resources.size() + 1);
  const std::uint64_t before = waiting.blocked_by;
  if (waiting.queued && before > 0) {
    stop_tracking(acquisition);
    if (!waiting.keeps_any()) waiting.keeps_since = now_;
    keep(acquisition);
  }
  leave_unkept(acquisition, blocking);
  if (before > 0 && waiting.keeps(before)) {
    // The nodes that passed it on have taken this client out of their queues. An attempt that began
    // earlier has not noted that.
    NodeSet& asked = keys_.find(acquisition.terms->resource_at(before))->second.asked;
    asked = asked - waiting.notified_by;
  }
  if (waiting.keeps(blocking)) wait_for_kept(acquisition, blocking);
  waiting.blocked_by = blocking;
  waiting.reserved = waiting.has_turn = waiting.is_behind = false;
  waiting.notified_by = NodeSet();
}

void WaitQueue::leave_unkept(Acquisition& acquisition, std::uint64_t blocking) {
  Waiting& waiting = acquisition.waiting.by(me);
  // What concerns the awaited resource is put aside, because leaving a queue uses it.
  const Waiting awaited = waiting;
  waiting.tracks = waiting.reserved = false;
  waiting.watch_until = Instant::min();
  std::uint64_t stay = which_bit(blocking);
  each_kept(acquisition, [&](std::uint64_t which) {
    if (may_keep(acquisition, which, blocking)) stay |= which_bit(which);
  });
  if (awaited.queued) keep(acquisition);
  each_kept(acquisition, [&](std::uint64_t which) {
    if ((stay & which_bit(which)) == 0) leave_kept(acquisition, which, Left::failed);
  });
  if (!awaited.queued) return;
  wait_for_kept(acquisition, blocking);
  waiting.tracks = awaited.tracks;
  waiting.reserved = awaited.reserved;
  waiting.watch_until = awaited.watch_until;
}

void WaitQueue::keep(Acquisition& acquisition) {
  Waiting& waiting = acquisition.waiting.by(me);
  waiting.positions[waiting.blocked_by - 1].kept_since = waiting.arrival;
  waiting.queued = false;
  --queued_;
  ++keys_.find_for(acquisition)->second.kept;
  ++kept_;
}

void WaitQueue::count_queued(WaitedKeys::Key& key, const Acquisition& acquisition, int change) {
  const auto by = static_cast<std::uint32_t>(change);
  if (!is_reader(acquisition)) key.alone += by;
  if (needs_more(acquisition)) key.need_more += by;
  key.permits = std::max(key.permits, acquisition.terms->permits);
}

void WaitQueue::wait_for_kept(Acquisition& acquisition, std::uint64_t which) {
  acquisition.waiting.by(me).blocked_by = which;
  acquisition.waiting.by(me).arrival =
      std::exchange(acquisition.waiting.by(me).positions[which - 1].kept_since, 0);
  acquisition.waiting.by(me).queued = true;
  ++queued_;
  --keys_.find(acquisition.terms->resource_at(which))->second.kept;
  --kept_;
}

void WaitQueue::leave_kept(Acquisition& acquisition, std::uint64_t which, Left left) {
  wait_for_kept(acquisition, which);
  const WaitedKeys::Key& key = keys_.find(acquisition.terms->resource_at(which))->second;
  acquisition.waiting.by(me).positions[which - 1].ticket = key.ticket;
  leave_key(acquisition, left, {});
  // What was reserved for this one may be used by our other waiters, and none of them was notified.
  if (left == Left::failed && !key.waiters.empty()) wake_next(key, now_, true);
}

void WaitQueue::stop_tracking(Acquisition& acquisition) {
  if (!std::exchange(acquisition.waiting.by(me).tracks, false)) return;
  tracked_.stop(keys_.find_for(acquisition)->first);
}

void WaitQueue::leave(Acquisition& acquisition, Left left, NodeSet taken_out) {
  if (!acquisition.waiting->queued) return;
  leave_key(acquisition, left, taken_out);
  each_kept(acquisition, [&](std::uint64_t which) { leave_kept(acquisition, which, left); });
}

void WaitQueue::leave_key(Acquisition& acquisition, Left left, NodeSet taken_out) {
  stop_tracking(acquisition);
  --queued_;
  const bool had_ticket = acquisition.waiting->has_ticket;
  acquisition.waiting.by(me).queued = acquisition.waiting.by(me).has_ticket = false;
  if (!had_ticket) taken_out = NodeSet();
  WaitedKeys::Entry& entry = *keys_.find_for(acquisition);
  WaitedKeys::Key& key = entry.second;
  key.waiters.remove(acquisition.waiting->arrival);
  count_queued(key, acquisition, -1);
  if (schedule_.hand_on_watch(acquisition, key)) wake_next(key, never, false);
  const bool others_wait = !key.waiters.empty();
  if (!others_wait) keys_.forget_later(key);
  hand_on_checks(key);
  key.late = key.asked | taken_out;
  if (left == Left::granted) key.granted_permit = acquisition.permit;
  // If the acquisition needs several resources, any of them may be reserved for us on any node.
  const NodeSet everywhere = needs_more(acquisition) ? nodes_.up() : NodeSet();
  if (acquisition.waiting->reserved) {
    key.asked = key.asked | everywhere;
    queues_.leave(entry, NodeQueues::Leave::unreserved);
    if (others_wait) queues_.join(entry, nodes_.up(), NodeQueues::Where::at_the_back);
    return;
  }
  if (others_wait) return stay_for_others(entry, acquisition, left);
  // The reservation that the acquisition was notified of may still exist.
  const bool others_enter = left == Left::granted && acquisition.makes_room();
  key.asked = (key.asked | everywhere) - taken_out;
  queues_.leave(entry, others_enter ? NodeQueues::Leave::notifying : NodeQueues::Leave::quietly);
}

void WaitQueue::stay_for_others(WaitedKeys::Entry& entry, Acquisition& acquisition, Left left) {
  WaitedKeys::Key& key = entry.second;
  // Clients that came later have a turn before our other waiters.
  if (left == Left::granted && key.permits > 0) {
    // Our next waiter asks, and is queued by nodes that refuse it.
    key.forget_position();
    return wake_next(key, now_, true);
  }
  if (left == Left::granted) {
    return queues_.join(entry, nodes_.up(), NodeQueues::Where::at_the_back);
  }
  // The last attempt of the acquisition may have taken us out of any queue.
  const bool tries = acquisition.state == Acquisition::State::in_round;
  const NodeSet there = tries || NodeQueues::is_out_of_position(key) ? NodeSet() : key.asked;
  if (key.last_attempt == acquisition.index) key.last_attempt.reset();
  queues_.join(entry, nodes_.up() - there);
  if (key.permits > 0) note_missed(key, acquisition);
  // Waiters after it were not woken by its notification.
  wake(key, 0, false);
}

void WaitQueue::hand_on_checks(const WaitedKeys::Key& key) {
  keys_.each_waiter(key, [&](const Acquisition& next) {
    const Plan& plan = next.waiting->plan;
    const bool sleeps = next.state == Acquisition::State::backing_off && plan.asleep;
    if (sleeps && !next.waiting->tracks && plan.next_check == Instant::max()) {
      woken_.push_back({.acquisition = next.index, .checks_only = true});
    }
    return Visited::enough;
  });
}

void WaitQueue::wake_next(const WaitedKeys::Key& key, Instant at_latest, bool at_once) {
  keys_.each_waiter(key, [&](const Acquisition& next) {
    if (next.state != Acquisition::State::backing_off) return Visited::more;
    woken_.push_back({next.index, at_latest, at_once});
    return Visited::enough;
  });
}

void WaitQueue::note_notified(WaitedKeys::Key& key, NodeIndex node, Waked how) {
  key.has_awake = true;
  keys_.each_waiter(key, [&](Acquisition& acquisition) {
    acquisition.waiting.by(me).notified_by.add(node);
    if (how == Waked::by_change) acquisition.waiting.by(me).saw_change = true;
    // A reserved permit is for one of our waiters. When that one is granted, the next one asks.
    return acquisition.terms->traits().is_chosen ? Visited::enough : Visited::more;
  });
}

void WaitQueue::note_missed(WaitedKeys::Key& key, const Acquisition& gone) {
  const bool tried = gone.state == Acquisition::State::in_round;
  const NodeSet missed = tried ? key.queued : gone.waiting->notified_by;
  missed.each([&](NodeIndex node) { note_notified(key, node); });
}

void WaitQueue::wake(const WaitedKeys::Key& key, std::uint32_t before, bool at_once, Waked how) {
  keys_.each_waiter(key, [&](Acquisition& acquisition) {
    // The first of our waiters is enough to find out, unless several can be let in.
    const Visited visited = acquisition.makes_room() ? Visited::more : Visited::enough;
    if (acquisition.state != Acquisition::State::backing_off) return visited;
    if (!schedule_.will_be_notified(acquisition)) return Visited::more;
    if (schedule_.wake(acquisition, before, how)) {
      woken_.push_back({acquisition.index, never, at_once});
    }
    return visited;
  });
}

}  // namespace redlock::core
