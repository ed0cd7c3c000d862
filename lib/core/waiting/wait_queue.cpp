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

/// Where nodes do not agree whose turn it is, they may do so a moment later; and who is second
/// waits for the first to come.
constexpr Duration shortest_patience = std::chrono::milliseconds(1);
/// An attempt that goes on being refused waits longer and longer for the rest of the nodes.
constexpr Duration longest_patience = std::chrono::milliseconds(64);

/// Of several resources it waits for one at a time, in the order of their names. Those before that
/// one are kept for it.
template <typename Visit>
void each_key(const Acquisition& acquisition, Visit&& visit) {
  if (acquisition.terms.traits().is_chosen)
    return visit(any_permit_name(acquisition.terms.resource));
  visit(acquisition.terms.resource_at(acquisition.waiting.blocked_by));
}

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

WaitQueue::WaitQueue(const Settings& settings, Nodes& nodes, Outbox& outbox,
                     Pool<Acquisition>& acquisitions, TrackedKeys& tracked,
                     TrackedKeys& tracked_queues, Randomness& random)
    : settings_(settings),
      nodes_(nodes),
      outbox_(outbox),
      acquisitions_(acquisitions),
      tracked_(tracked),
      tracked_queues_(tracked_queues),
      random_(random) {}

void WaitQueue::forget_left() {
  for (const std::uint32_t key : left_) keys_.forget(key);
  left_.clear();
}

bool WaitQueue::can_be_notified(const Acquisition& acquisition) const {
  if (acquisition.refusal.why == Errc::split) {
    // Two that exclude each other, notified of what both gave back, would divide it again. With a
    // ticket it is passed on to one of them, and readers do not exclude each other.
    return acquisition.waiting.has_ticket || is_reader(acquisition) || needs_more(acquisition) ||
           acquisition.refusal.is_beside;
  }
  if (acquisition.refusal.why != Errc::held) return false;
  return !acquisition.refusal.is_foreign || tracked_.able().size() >= settings_.quorum;
}

bool WaitQueue::is_to_be_queued(const Acquisition& acquisition) const {
  // In the queue it keeps what it is granted, where another library's clients would take it.
  return can_be_notified(acquisition) ||
         (acquisition.refusal.is_beside && can_have_ticket(acquisition));
}

bool WaitQueue::is_eager(const Acquisition& acquisition) {
  return acquisition.refusal.is_beside && is_first(acquisition) &&
         tracked_.able().size() < settings_.quorum;
}

void WaitQueue::try_again(Acquisition& acquisition) {
  NodeSet& notified = acquisition.waiting.notified_by;
  const bool may_be_out = !can_have_ticket(acquisition);
  if (acquisition.waiting.queued && may_be_out) {
    // To be asked again when this attempt is over; until then others of ours stay asleep.
    const auto is_out = [&](const std::string& key) {
      WaitedKeys::Key& entry = keys_.find(key)->second;
      entry.asked = entry.asked - notified;
    };
    each_key(acquisition, is_out);
    each_kept(acquisition,
              [&](std::uint64_t which) { is_out(acquisition.terms.resource_at(which)); });
  }
  notified = NodeSet();
  acquisition.waiting.asleep = acquisition.waiting.saw_change = false;
  acquisition.waiting.watches = acquisition.waiting.watch_until > Instant::min();
  if (acquisition.waiting.watch_until <= now_) acquisition.waiting.watch_until = Instant::min();
  acquisition.waiting.retry_at.reset();
}

void WaitQueue::note_plan(Acquisition& acquisition, bool asleep) {
  acquisition.waiting.asleep = asleep;
  if (asleep || !acquisition.waiting.queued) return;
  each_key(acquisition,
           [this](const std::string& key) { keys_.find(key)->second.has_awake = true; });
}

NodeSet WaitQueue::subscribe() {
  NodeSet able;
  NodeSet mute;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Link& link = nodes_[i];
    if (!link.up() || link.read_only() || link.subscription.retry_at > now_) continue;
    able.add(static_cast<NodeIndex>(i));
    if (!link.subscription.wanted) {
      mute.add(static_cast<NodeIndex>(i));
      link.subscription.answer_by = later(now_, link.connect_limit());
    }
    link.subscription.wanted = true;
  }
  if (!mute.empty()) {
    if (client_id_.empty()) {
      const Token drawn = random_.token();
      client_id_ = Token::parse(settings_.client_id).value_or(drawn);
    }
    outbox_.emit(Subscribe{mute});
  }
  return able;
}

void WaitQueue::join(Acquisition& acquisition) {
  if (needs_more(acquisition)) {
    // Where no node names one, it waits on as it did.
    const std::uint64_t now = std::max<std::uint64_t>(acquisition.waiting.blocked_by, 1);
    const std::uint64_t named = acquisition.refusal.resource;
    const std::uint64_t blocking = named > 0 ? named : now;
    if (blocking != acquisition.waiting.blocked_by) wait_for_another(acquisition, blocking);
  }
  const NodeSet able = subscribe();
  each_kept(acquisition, [&](std::uint64_t which) {
    // Where it lost one of them it is queued as before.
    WaitedKeys::Entry& entry = *keys_.find(acquisition.terms.resource_at(which));
    join(entry, able - entry.second.asked, position_of(entry.second));
  });
  const bool was_queued = acquisition.waiting.queued;
  if (!was_queued) acquisition.waiting.arrival = ++arrivals_;
  acquisition.waiting.reserved = acquisition.waiting.reserved ||
                                 (acquisition.reserves && acquisition.refusal.is_another_group);
  each_key(acquisition, [&](const std::string& key) {
    WaitedKeys::Entry& entry =
        was_queued ? *keys_.find(key)
                   : keys_.wait(key, acquisition.waiting.arrival, acquisition.index);
    if (!was_queued) {
      count_queued(entry.second, acquisition, 1);
      use_kept_ticket(acquisition, entry.second);
    }
    const Position position = position_of(entry.second);
    const bool again = later(entry.second.asked_at, queued_again_after) <= now_;
    if (again || position != entry.second.position) entry.second.asked = NodeSet();
    join(entry, able - entry.second.asked, position);
    raise_tickets(entry);
    if (!meets_foreign_locks(acquisition)) return;
    // A node sends one notification for each request.
    if (acquisition.waiting.tracks) return tracked_.ask(*tracked_.find(key));
    acquisition.waiting.tracks = true;
    tracked_.use(key);
  });
  if (!was_queued) ++queued_;
  acquisition.waiting.queued = true;
}

void WaitQueue::wait_for_another(Acquisition& acquisition, std::uint64_t blocking) {
  Acquisition::Waiting& waiting = acquisition.waiting;
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
      each_key(acquisition, [&](const std::string& key) {
        waiting.places[waiting.blocked_by - 1].ticket = keys_.find(key)->second.ticket;
      });
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

void WaitQueue::use_kept_ticket(const Acquisition& acquisition, WaitedKeys::Key& key) {
  const Acquisition::Waiting& waiting = acquisition.waiting;
  if (key.ticket > 0 || waiting.blocked_by == 0 || waiting.places.empty()) return;
  key.ticket = waiting.places[waiting.blocked_by - 1].ticket;
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
    if (nodes_[node].subscription.open && !nodes_[node].congested()) asked.add(node);
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
  each_key(acquisition, [this](const std::string& key) { tracked_.stop(key); });
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
  each_key(acquisition, [&](const std::string& key) {
    WaitedKeys::Entry& entry = keys_.stop(key, acquisition.waiting.arrival);
    count_queued(entry.second, acquisition, -1);
    watch_no_more(acquisition, entry.second);
    const bool others_wait = !entry.second.waiters.empty();
    entry.second.settled = entry.second.asked | taken_out;
    if (left == Left::granted) entry.second.granted_permit = acquisition.permit;
    // Of several resources, any may be reserved for us wherever we were notified.
    const NodeSet everywhere = needs_more(acquisition) ? nodes_.up() : NodeSet();
    if (acquisition.waiting.reserved) {
      entry.second.asked = entry.second.asked | everywhere;
      leave(entry, Leave::unreserved);
      if (others_wait) join(entry, nodes_.up(), at_the_back(position_of(entry.second)));
      return;
    }
    if (others_wait) return stay_for_others(entry, acquisition, left);
    // What it was notified of may be there still.
    const bool others_enter = left == Left::granted && acquisition.makes_room();
    entry.second.asked = (entry.second.asked | everywhere) - taken_out;
    leave(entry, others_enter ? Leave::notifying : Leave::quietly);
  });
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
  terms.client = client_id_.view();
  terms.queue_mode = mode;
  terms.ticket = key.ticket;
  terms.permits = key.permits;
  terms.reserved_for = reserved_for_;
  // Both may pass a free resource on.
  tracked_.may_be_written(entry.first, nodes);
  tracked_queues_.may_be_written(entry.first, nodes);
}

NodeSet WaitQueue::notifying_nodes() const {
  NodeSet nodes;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].up() && nodes_[i].subscription.open) nodes.add(static_cast<NodeIndex>(i));
  }
  return nodes;
}

bool WaitQueue::will_be_notified(const Acquisition& acquisition) {
  if (!acquisition.waiting.queued || !can_be_notified(acquisition)) return false;
  NodeSet nodes = notifying_nodes();
  each_key(acquisition, [&](const std::string& key) {
    nodes = nodes & keys_.find(key)->second.queued;
    if (!acquisition.refusal.is_foreign) return;
    const TrackedKeys::Entry* const tracked = tracked_.find(key);
    nodes = nodes & (tracked != nullptr ? tracked->second.tracking : NodeSet());
  });
  return nodes.size() >= settings_.quorum;
}

bool WaitQueue::is_notified_by_quorum(const Acquisition& acquisition) const {
  // With a ticket, what was granted is passed on to who is first.
  const NodeSet granted = acquisition.waiting.has_ticket ? NodeSet() : acquisition.refusal.granted;
  return (acquisition.waiting.notified_by | granted).size() >= settings_.quorum;
}

void WaitQueue::heed_notifications(Acquisition& acquisition) {
  if (is_notified_by_quorum(acquisition) || is_hurried(acquisition)) {
    acquisition.waiting.retry_at = now_;
  } else if (is_in_turn(acquisition) && !acquisition.waiting.retry_at) {
    wait_for_others(acquisition);
  }
  each_key(acquisition,
           [&](const std::string& key) { watch(acquisition, keys_.find(key)->second); });
}

bool WaitQueue::is_in_turn(const Acquisition& acquisition) {
  // A key that changed says less than a turn: it may be another library's again.
  return !acquisition.waiting.notified_by.empty() && !acquisition.waiting.tracks;
}

bool WaitQueue::others_try(const Acquisition& acquisition) {
  if (acquisition.makes_room()) return false;
  bool others = false;
  each_key(acquisition, [&](const std::string& key) {
    each_waiter(keys_.find(key)->second, [&](const Acquisition& other) {
      // A writer is not kept waiting by readers that try: they are refused until it had its turn.
      const bool tries = other.state == Acquisition::State::in_round && !other.makes_room();
      others = others || (&other != &acquisition && tries);
      return others ? Visited::enough : Visited::more;
    });
  });
  return others;
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
  Acquisition::Waiting& waiting = acquisition.waiting;
  const Instant until = std::exchange(key.watch_until, Instant::min());
  const bool is_over = later(until, reserved_for_) < now_;
  if (!is_over) waiting.watch_until = std::max(waiting.watch_until, until);
  if (waiting.watch_until == Instant::min()) return;
  waiting.retry_at = std::min(waiting.watch_until, waiting.retry_at.value_or(never));
}

void WaitQueue::watch_no_more(Acquisition& acquisition, WaitedKeys::Key& key) {
  Instant until = std::exchange(acquisition.waiting.watch_until, Instant::min());
  // It was to come again when another reservation is over. A lease may take much longer.
  const bool comes_soon = acquisition.next_try <= later(now_, 2 * reserved_for_);
  if (acquisition.waiting.watches && comes_soon) until = std::max(until, acquisition.next_try);
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
