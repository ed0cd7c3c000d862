#include "core/waiting/wait_queue.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/claim/permits.hpp"

namespace redlock::core {
namespace {

constexpr Duration queued_again_after = queued_for / 3;

/// Of several resources it waits for one at a time, in the order of their names. Those before that
/// one are kept for it.
template <typename Visit>
void each_kept(const Acquisition& acquisition, Visit&& visit) {
  const auto& places = acquisition.waiting.places;
  for (std::uint64_t which = 1; which <= places.size(); ++which) {
    if (places[which - 1].kept_since > 0) visit(which);
  }
}

bool is_reader(const Acquisition& acquisition) { return acquisition.terms.kind() == Kind::shared; }

bool needs_more(const Acquisition& acquisition) {
  return acquisition.terms.kind() == Kind::several;
}

/// Locks of other libraries have the resource, or some of its nodes.
bool meets_foreign_locks(const Acquisition& acquisition) {
  const Refusal& refusal = acquisition.refusal;
  const bool is_divided = refusal.why == Errc::split && refusal.is_beside;
  return refusal.is_foreign || (is_divided && !acquisition.terms.traits().is_chosen);
}

}  // namespace

WaitQueue::WaitQueue(const Settings& settings, const Nodes& nodes, Outbox& outbox,
                     Pool<Acquisition>& acquisitions, TrackedKeys& tracked,
                     TrackedKeys& tracked_queues, Randomness& random)
    : settings_(settings),
      nodes_(nodes),
      outbox_(outbox),
      acquisitions_(acquisitions),
      tracked_(tracked),
      tracked_queues_(tracked_queues),
      random_(random),
      subscriptions_(settings, now_, nodes, outbox, random) {}

void WaitQueue::forget_left() {
  for (const std::uint32_t key : left_) keys_.forget(key);
  left_.clear();
}

void WaitQueue::try_again(Acquisition& acquisition) {
  NodeSet& notified = acquisition.waiting.notified_by;
  const bool may_be_out = !can_have_ticket(acquisition);
  if (acquisition.waiting.queued && may_be_out) {
    // To be asked again when this attempt is over; until then others of ours stay asleep.
    WaitedKeys::Key& key = find_queue(acquisition)->second;
    key.asked = key.asked - notified;
    each_kept(acquisition, [&](std::uint64_t which) {
      WaitedKeys::Key& kept = keys_.find(acquisition.terms.resource_at(which))->second;
      kept.asked = kept.asked - notified;
    });
  }
  notified = NodeSet();
  acquisition.waiting.plan.asleep = acquisition.waiting.saw_change = false;
  acquisition.waiting.watches = acquisition.waiting.watch_until > Instant::min();
  if (acquisition.waiting.watch_until <= now_) acquisition.waiting.watch_until = Instant::min();
  acquisition.waiting.retry_at.reset();
}

bool WaitQueue::join(Acquisition& acquisition) {
  Waiting& waiting = acquisition.waiting;
  const Refusal& refusal = acquisition.refusal;
  // In the queue it keeps what it is granted, where another library's clients would take it.
  const bool keeps = refusal.is_beside && can_have_ticket(acquisition);
  if (!keeps && !can_be_notified(acquisition)) return false;
  if (needs_more(acquisition)) {
    // Where no node names one, it waits on as it did.
    const std::uint64_t before = std::max<std::uint64_t>(waiting.blocked_by, 1);
    const std::uint64_t blocking = refusal.resource > 0 ? refusal.resource : before;
    if (blocking != waiting.blocked_by) wait_for_another(acquisition, blocking);
  }
  const NodeSet able = subscriptions_.subscribe();
  each_kept(acquisition, [&](std::uint64_t which) {
    // Where it lost one of them it is queued as before.
    WaitedKeys::Entry& entry = *keys_.find(acquisition.terms.resource_at(which));
    join(entry, able - entry.second.asked, position_of(entry.second));
  });
  waiting.reserved = waiting.reserved || (acquisition.reserves && refusal.is_another_group);
  WaitedKeys::Entry& entry = make_queue(acquisition);
  if (!waiting.queued) begin_to_wait(acquisition, entry.second);
  const Position position = position_of(entry.second);
  const bool again = later(entry.second.asked_at, queued_again_after) <= now_;
  if (again || position != entry.second.position) entry.second.asked = NodeSet();
  join(entry, able - entry.second.asked, position);
  raise_tickets(entry);
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
  Waiting& waiting = acquisition.waiting;
  waiting.arrival = ++arrivals_;
  waiting.queued = true;
  ++queued_;
  key.waiters.add(waiting.arrival, acquisition.index);
  count_queued(key, acquisition, 1);
  // It came back, and is queued where it was.
  const bool has_been_here = waiting.blocked_by > 0 && !waiting.places.empty();
  if (has_been_here && key.ticket == 0) key.ticket = waiting.places[waiting.blocked_by - 1].ticket;
}

void WaitQueue::wait_for_another(Acquisition& acquisition, std::uint64_t blocking) {
  Waiting& waiting = acquisition.waiting;
  const std::vector<std::uint64_t> order = acquisition.terms.order();
  const auto rank_of = [&order](std::uint64_t which) {
    return std::find(order.begin(), order.end(), which) - order.begin();
  };
  waiting.places.resize(order.size());
  if (waiting.queued && waiting.blocked_by > 0) {
    if (rank_of(waiting.blocked_by) < rank_of(blocking)) {
      // It is reserved for us now, and stays so as long as we ask.
      stop_tracking(acquisition);
      waiting.places[waiting.blocked_by - 1].kept_since = waiting.arrival;
      waiting.queued = false;
      --queued_;
      ++keys_.find(acquisition.terms.resource_at(waiting.blocked_by))->second.kept;
    } else {
      waiting.places[waiting.blocked_by - 1].ticket = find_queue(acquisition)->second.ticket;
      leave_key(acquisition, Left::failed, {});
    }
  }
  // Another one's now, as those after it: two that each keep what the other one waits for would
  // wait for ever.
  each_kept(acquisition, [&](std::uint64_t which) {
    if (rank_of(which) <= rank_of(blocking)) return;
    leave_kept(acquisition, which, Left::failed);
  });
  if (waiting.places[blocking - 1].kept_since > 0) wait_for_kept(acquisition, blocking);
  waiting.blocked_by = blocking;
  waiting.reserved = false;
  waiting.notified_by = NodeSet();
}

void WaitQueue::count_queued(WaitedKeys::Key& key, const Acquisition& acquisition, int change) {
  const auto by = static_cast<std::uint32_t>(change);
  if (!is_reader(acquisition)) key.alone += by;
  if (needs_more(acquisition)) key.need_more += by;
  key.permits = std::max(key.permits, acquisition.terms.permits);
}

WaitQueue::Position WaitQueue::position_of(const WaitedKeys::Key& key) {
  if (key.permits > 0) return Position::any_permit;
  if (key.need_more > 0) return Position::of_several;
  return key.alone > 0 ? Position::once : Position::shared;
}

WaitQueue::Position WaitQueue::at_the_back(Position position) {
  return static_cast<Position>(static_cast<std::uint8_t>(position) | 1U);
}

void WaitQueue::join(WaitedKeys::Entry& entry, NodeSet nodes, Position where) {
  WaitedKeys::Key& key = entry.second;
  NodeSet asked;
  // A grant takes us out of the queue. Queued again behind it, we would be first when it is
  // released; a round that is lost queues us again by its release.
  nodes = nodes - being_taken(entry);
  nodes.each([&](NodeIndex node) {
    // A notification before we are subscribed would be lost. We are queued there once we are.
    if (subscriptions_.open().has(node) && !nodes_[node].congested()) asked.add(node);
  });
  if (asked.empty()) return;
  key.position = static_cast<Position>(static_cast<std::uint8_t>(where) & ~1U);
  if (key.asked.empty()) key.asked_at = now_;
  key.asked = key.asked | asked;
  key.contended_at = now_;
  if (where == at_the_back(where)) {
    key.ticket = 0;
    key.level = key.first = NodeSet();
  }
  send(entry, Verb::join_queue, asked, static_cast<Mode>(where));
}

NodeSet WaitQueue::being_taken(const WaitedKeys::Entry& entry) const {
  if (!entry.second.last_attempt) return {};
  const Acquisition& last = acquisitions_.at(*entry.second.last_attempt);
  const bool its = entry.second.permits > 0 ? any_permit_name(last.terms.resource) == entry.first
                                            : last.terms.resource == entry.first;
  const bool tries = last.state == Acquisition::State::in_round && last.waiting.has_ticket && its;
  return tries ? entry.second.taking : NodeSet();
}

void WaitQueue::wait_for_kept(Acquisition& acquisition, std::uint64_t which) {
  acquisition.waiting.blocked_by = which;
  acquisition.waiting.arrival = std::exchange(acquisition.waiting.places[which - 1].kept_since, 0);
  acquisition.waiting.queued = true;
  ++queued_;
  --keys_.find(acquisition.terms.resource_at(which))->second.kept;
}

void WaitQueue::leave_kept(Acquisition& acquisition, std::uint64_t which, Left left) {
  wait_for_kept(acquisition, which);
  const WaitedKeys::Key& key = keys_.find(acquisition.terms.resource_at(which))->second;
  acquisition.waiting.places[which - 1].ticket = key.ticket;
  leave_key(acquisition, left, {});
}

void WaitQueue::stop_tracking(Acquisition& acquisition) {
  if (!std::exchange(acquisition.waiting.tracks, false)) return;
  tracked_.stop(find_queue(acquisition)->first);
}

void WaitQueue::leave(Acquisition& acquisition, Left left, NodeSet taken_out) {
  if (!acquisition.waiting.queued) return;
  leave_key(acquisition, left, taken_out);
  each_kept(acquisition, [&](std::uint64_t which) { leave_kept(acquisition, which, left); });
}

void WaitQueue::leave_key(Acquisition& acquisition, Left left, NodeSet taken_out) {
  stop_tracking(acquisition);
  --queued_;
  const bool had_ticket = acquisition.waiting.has_ticket;
  acquisition.waiting.queued = acquisition.waiting.has_ticket = false;
  if (!had_ticket) taken_out = NodeSet();
  WaitedKeys::Entry& entry = *find_queue(acquisition);
  WaitedKeys::Key& key = entry.second;
  key.waiters.remove(acquisition.waiting.arrival);
  count_queued(key, acquisition, -1);
  watch_no_more(acquisition, key);
  const bool others_wait = !key.waiters.empty();
  key.settled = key.asked | taken_out;
  if (left == Left::granted) key.granted_permit = acquisition.permit;
  // Of several resources, any may be reserved for us wherever we were notified.
  const NodeSet everywhere = needs_more(acquisition) ? nodes_.up() : NodeSet();
  if (acquisition.waiting.reserved) {
    key.asked = key.asked | everywhere;
    leave(entry, Leave::unreserved);
    if (others_wait) join(entry, nodes_.up(), at_the_back(position_of(key)));
    return;
  }
  if (others_wait) return stay_for_others(entry, acquisition, left);
  // What it was notified of may be there still.
  const bool others_enter = left == Left::granted && acquisition.makes_room();
  key.asked = (key.asked | everywhere) - taken_out;
  leave(entry, others_enter ? Leave::notifying : Leave::quietly);
}

void WaitQueue::let_next_ask(WaitedKeys::Entry& entry) {
  entry.second.asked = entry.second.queued = entry.second.level = entry.second.first = NodeSet();
  entry.second.ticket = 0;
  each_waiter(entry.second, [&](const Acquisition& next) {
    if (next.state != Acquisition::State::backing_off) return Visited::more;
    woken_.push_back({next.index, now_, true});
    return Visited::enough;
  });
}

void WaitQueue::stay_for_others(WaitedKeys::Entry& entry, Acquisition& acquisition, Left left) {
  // Who came later is to have a turn before others of ours.
  if (left == Left::granted && entry.second.permits > 0) return let_next_ask(entry);
  if (left == Left::granted) {
    return join(entry, nodes_.up(), at_the_back(position_of(entry.second)));
  }
  // Its last attempt may have taken us out of any queue.
  const bool tries = acquisition.state == Acquisition::State::in_round;
  const bool changes = position_of(entry.second) != entry.second.position;
  const NodeSet there = tries || changes ? NodeSet() : entry.second.asked;
  if (entry.second.last_attempt == acquisition.index) entry.second.last_attempt.reset();
  join(entry, nodes_.up() - there, position_of(entry.second));
  if (entry.second.permits > 0) note_missed(entry.second, acquisition);
  // Waiters behind it were not woken by its notification.
  wake(entry.second, 0, false);
}

void WaitQueue::leave(WaitedKeys::Entry& entry, Leave how) {
  NodeSet nodes;
  entry.second.asked.each([&](NodeIndex node) {
    if (nodes_[node].up() && !nodes_[node].congested()) nodes.add(node);
  });
  entry.second.asked = entry.second.queued = entry.second.level = entry.second.first = NodeSet();
  entry.second.ticket = 0;
  left_.push_back(entry.second.id);
  if (nodes.empty()) return;
  send(entry, Verb::leave_queue, nodes, static_cast<Mode>(how));
}

void WaitQueue::send(const WaitedKeys::Entry& entry, Verb verb, NodeSet nodes, Mode mode,
                     ScriptForm form) {
  Stamp stamp;
  stamp.verb = verb;
  stamp.round = form == ScriptForm::text ? static_cast<Mode>(mode | in_full) : mode;
  stamp.claim.index = entry.second.id;
  measure_reservation();
  const WaitedKeys::Key& key = entry.second;
  Terms& terms = outbox_.send(nodes, stamp, form);
  terms.resource = entry.first;
  terms.client = client_id().view();
  terms.queue_mode = mode;
  terms.ticket = key.ticket;
  terms.permits = key.permits;
  terms.reserved_for = reserved_for_;
  // Both may pass a free resource on.
  tracked_.may_be_written(entry.first, nodes);
  tracked_queues_.may_be_written(entry.first, nodes);
}

void WaitQueue::note_notified(WaitedKeys::Key& key, NodeIndex node, Waked how) {
  key.has_awake = true;
  each_waiter(key, [node, how](Acquisition& acquisition) {
    acquisition.waiting.notified_by.add(node);
    if (how == Waked::by_change) acquisition.waiting.saw_change = true;
    // What is reserved is for one of us. When it is granted, the next one asks.
    return acquisition.terms.traits().is_chosen ? Visited::enough : Visited::more;
  });
}

void WaitQueue::note_missed(WaitedKeys::Key& key, const Acquisition& gone) {
  const bool tried = gone.state == Acquisition::State::in_round;
  const NodeSet missed = tried ? key.queued : gone.waiting.notified_by;
  missed.each([&](NodeIndex node) { note_notified(key, node); });
}

void WaitQueue::watch_no_more(Acquisition& acquisition, WaitedKeys::Key& key) {
  Instant until = std::exchange(acquisition.waiting.watch_until, Instant::min());
  // It was to come again when another reservation is over. A lease may take much longer.
  const bool comes_soon = acquisition.waiting.plan.next_try <= later(now_, 2 * reserved_for_);
  if (acquisition.waiting.watches && comes_soon)
    until = std::max(until, acquisition.waiting.plan.next_try);
  if (until <= now_) return;
  key.watch_until = std::max(key.watch_until, until);
  each_waiter(key, [&](const Acquisition& other) {
    if (other.state != Acquisition::State::backing_off) return Visited::more;
    woken_.push_back({other.index, Instant::max(), false});
    return Visited::enough;
  });
}

void WaitQueue::wake(const WaitedKeys::Key& key, std::uint32_t before, bool at_once, Waked how) {
  each_waiter(key, [&](Acquisition& acquisition) {
    // One of us, who comes first, is enough to find out, unless several may be let in.
    const Visited visited = acquisition.makes_room() ? Visited::more : Visited::enough;
    if (acquisition.state != Acquisition::State::backing_off) return visited;
    if (!will_be_notified(acquisition)) return Visited::more;
    if (is_notified_by_quorum(acquisition)) {
      acquisition.failed_attempts = 0;
      acquisition.waiting.retry_at = now_;
    } else if (how == Waked::by_change && acquisition.refusal.is_beside) {
      // The first takes it, and keeps it from then on. The others only watch it (see pass_on).
      if (before > 0) return visited;
      acquisition.waiting.retry_at = now_;
    } else if (before > 0) {
      // Who was notified ahead of us has so long to come.
      const Instant retry = later(now_, reserved_for_ + std::chrono::milliseconds(1));
      acquisition.waiting.retry_at = std::min(retry, acquisition.waiting.retry_at.value_or(retry));
    } else if (!acquisition.waiting.notified_by.empty()) {
      wait_for_others(acquisition);
    } else {
      return visited;
    }
    woken_.push_back({acquisition.index, Instant::max(), at_once});
    return visited;
  });
}

}  // namespace redlock::core
