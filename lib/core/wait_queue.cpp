#include "core/wait_queue.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "core/permits.hpp"

namespace redlock::core {
namespace {

/// An acquisition that waits for more keys than these polls instead.
constexpr std::size_t most_keys = 16;

constexpr Duration queued_again_after = queued_for / 3;
constexpr Duration retry_after = std::chrono::seconds(5);

/// Where nodes do not agree whose turn it is, they may do so a moment later; and who is second
/// waits for the first to come.
constexpr Duration shortest_patience = std::chrono::milliseconds(1);
/// An attempt that goes on being refused waits longer and longer for the rest of the nodes.
constexpr Duration longest_patience = std::chrono::milliseconds(64);
/// A resource that was waited for so lately is queued for at once.
constexpr Duration contended_for = std::chrono::seconds(1);
/// A reservation is there for so many round trips.
constexpr int reserved_round_trips = 8;

std::size_t keys_of(const Acquisition& acquisition) {
  return std::max<std::size_t>(acquisition.terms.permits, 1);
}

/// Of several resources, the one in the way on most of the nodes that refused.
std::uint64_t find_blocking(const Acquisition& acquisition) {
  if (acquisition.terms.more_resources.empty()) return 0;
  std::vector<std::size_t> nodes(acquisition.terms.more_resources.size() + 2);
  acquisition.last.with(Vote::refused).each([&](NodeIndex node) {
    const std::uint64_t which = acquisition.last.vote(node).number;
    if (which < nodes.size()) ++nodes[which];
  });
  return static_cast<std::uint64_t>(std::max_element(nodes.begin(), nodes.end()) - nodes.begin());
}

template <typename Visit>
void each_key(const Acquisition& acquisition, Visit&& visit) {
  // Of several resources it waits for one at a time: notified of one that it cannot use, it would
  // keep from the next in that queue what it was notified of.
  if (acquisition.waiting.blocked_by > 1)
    return visit(acquisition.terms.more_resources[acquisition.waiting.blocked_by - 2]);
  if (acquisition.terms.permits == 0) return visit(acquisition.terms.resource);
  for (std::uint32_t permit = 0; permit < acquisition.terms.permits; ++permit) {
    visit(permit_name(acquisition.terms.resource, permit));
  }
}

/// A writer, which keeps new readers out while it waits for those that hold the resource.
bool is_kept_out_by_readers(const Acquisition& acquisition) {
  return acquisition.reserves && acquisition.last.leading_holder() == "shared";
}

/// It can have a ticket: it waits for one key, and alone can have it.
bool has_tickets(const Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  return acquisition.give_up && terms.group.empty() && terms.permits == 0 &&
         terms.more_resources.empty();
}

/// Several that wait for the same may be let in.
bool makes_room(const Acquisition& acquisition) {
  return !acquisition.terms.group.empty() || acquisition.terms.permits > 0;
}

}  // namespace

WaitQueue::WaitQueue(const Settings& settings, Nodes& nodes, Outbox& outbox,
                     Pool<Acquisition>& acquisitions, Randomness& random)
    : settings_(settings),
      nodes_(nodes),
      outbox_(outbox),
      acquisitions_(acquisitions),
      random_(random) {}

void WaitQueue::forget_left() {
  for (const std::uint32_t key : left_) keys_.forget(key);
  left_.clear();
}

bool WaitQueue::can_be_notified(const Acquisition& acquisition) {
  if (keys_of(acquisition) > most_keys) return false;
  if (acquisition.why == Errc::split) return acquisition.waiting.has_ticket;
  if (acquisition.why != Errc::held) return false;
  return acquisition.terms.permits > 0 || notifies_on_release(acquisition.last.leading_holder());
}

void WaitQueue::measure_reservation() {
  // In steps, so that requests are seldom encoded anew.
  reserved_for_ = shortest_reservation;
  const Duration wanted =
      std::min(reserved_round_trips * nodes_.slowest_round_trip(), settings_.max_ttl);
  while (reserved_for_ < wanted) reserved_for_ *= 2;
}

bool WaitQueue::is_contended(const WaitedKeys::Key& key) const {
  return key.contended_at > Instant::min() && now_ < later(key.contended_at, contended_for);
}

bool WaitQueue::can_queue() const {
  std::size_t able = 0;
  for (const Link& link : nodes_) {
    const bool hears = link.up() && link.subscription.open;
    able += hears && link.runs_scripts() ? 1U : 0U;
  }
  return able >= settings_.quorum;
}

void WaitQueue::try_again(Acquisition& acquisition) {
  NodeSet& notified = acquisition.waiting.notified_by;
  if (acquisition.waiting.queued && !has_tickets(acquisition)) {
    each_key(acquisition, [&](const std::string& key) {
      // To be asked again when this attempt is over; until then others of ours stay asleep.
      WaitedKeys::Key& entry = keys_.find(key)->second;
      entry.asked = entry.asked - notified;
    });
  }
  notified = NodeSet();
  acquisition.waiting.retry_at.reset();
}

QueuePlace WaitQueue::queue_place(Acquisition& acquisition) {
  QueuePlace place;
  Acquisition::Waiting& waiting = acquisition.waiting;
  if (client_id_.empty() || !acquisition.give_up) return place;
  const bool tickets = has_tickets(acquisition) && can_queue();
  if (!waiting.queued && tickets) {
    WaitedKeys::Entry* const entry = keys_.find(acquisition.terms.resource);
    const bool alone = entry != nullptr && entry->second.waiters.empty();
    if (!alone || !is_contended(entry->second)) return place;
    keys_.wait(acquisition.terms.resource, acquisition.index);
    waiting.queued = true;
  }
  if (!waiting.queued) return place;
  place.as_client = true;
  waiting.has_ticket = tickets;
  if (waiting.has_ticket) place.ticket = keys_.find(acquisition.terms.resource)->second.ticket;
  return place;
}

void WaitQueue::asked(const Acquisition& acquisition, NodeSet nodes) {
  if (!acquisition.waiting.queued) return;
  WaitedKeys::Key& key = keys_.find(acquisition.terms.resource)->second;
  key.asked = key.asked | nodes;
  key.asked_at = key.contended_at = now_;
}

void WaitQueue::answered_attempt(const Acquisition& acquisition, const Answer& answer,
                                 bool ours_yet) {
  if (!acquisition.waiting.queued) return;
  WaitedKeys::Entry& entry = *keys_.find(acquisition.terms.resource);
  // A writer that is ahead of all tickets has none.
  if (answer.reply == Reply::taken && (answer.ticket > 0 || answer.is_first)) {
    note_place(entry, answer);
    // It waits already, and did not know that it is the one to notice an expiry.
    const bool waits = acquisition.state == Acquisition::State::backing_off;
    if (waits) woken_.push_back({acquisition.index, acquisition.next_try});
    return;
  }
  // Behind a grant that nobody counts any more, a release queues us again.
  if (!ours_yet) return;
  const bool granted = answer.reply == Reply::granted || answer.reply == Reply::behind;
  if (granted) entry.second.asked.remove(answer.node);
  entry.second.queued.remove(answer.node);
}

void WaitQueue::place_again(const Acquisition& acquisition, QueuePlace& place, NodeSet nodes) {
  nodes = nodes & place.nodes;
  if (!acquisition.waiting.queued || !place.ticket || nodes.empty()) return;
  WaitedKeys::Key& key = keys_.find(acquisition.terms.resource)->second;
  place.ticket = key.ticket;
  place.again = true;
  key.asked = key.asked | nodes;
  nodes.each([&](NodeIndex node) {
    if (nodes_[node].up() && nodes_[node].subscription.open) key.queued.add(node);
  });
}

void WaitQueue::note_place(WaitedKeys::Entry& entry, const Answer& answer) {
  WaitedKeys::Key& key = entry.second;
  if (nodes_[answer.node].subscription.open) key.queued.add(answer.node);
  key.first.remove(answer.node);
  if (answer.is_first) key.first.add(answer.node);
  if (answer.ticket == 0) return;
  if (answer.ticket > key.ticket) {
    key.ticket = answer.ticket;
    key.level = NodeSet();
  }
  if (answer.ticket == key.ticket) key.level.add(answer.node);
}

void WaitQueue::raise_tickets(WaitedKeys::Entry& entry) {
  WaitedKeys::Key& key = entry.second;
  if (key.ticket == 0 || key.queued.size() < settings_.quorum) return;
  const NodeSet lower = key.queued - key.level;
  if (lower.empty()) return;
  key.level = key.level | lower;
  join(entry, lower, position_of_new(key));
}

bool WaitQueue::is_first(const Acquisition& acquisition) {
  if (!acquisition.waiting.has_ticket) return true;  // as far as is known here
  return !keys_.find(acquisition.terms.resource)->second.first.empty();
}

NodeSet WaitQueue::subscribe() {
  NodeSet able;
  NodeSet mute;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    Link& link = nodes_[i];
    if (!link.up() || link.subscription.retry_at > now_) continue;
    able.add(static_cast<NodeIndex>(i));
    if (!link.subscription.wanted) mute.add(static_cast<NodeIndex>(i));
    link.subscription.wanted = true;
  }
  if (!mute.empty()) {
    if (client_id_.empty()) client_id_ = random_.token();
    outbox_.emit(Subscribe{mute});
  }
  return able;
}

void WaitQueue::join(Acquisition& acquisition) {
  if (const std::uint64_t blocking = find_blocking(acquisition);
      blocking != acquisition.waiting.blocked_by) {
    leave(acquisition, Left::failed);
    acquisition.waiting.blocked_by = blocking;
    acquisition.waiting.reserved = false;
    acquisition.waiting.notified_by = NodeSet();
  }
  const NodeSet able = subscribe();
  const bool is_reserved = acquisition.last.leading_holder() == "writer";
  const bool reserves_it = is_kept_out_by_readers(acquisition);
  acquisition.waiting.reserved = acquisition.waiting.reserved || reserves_it;
  each_key(acquisition, [&](const std::string& key) {
    WaitedKeys::Entry& entry =
        acquisition.waiting.queued ? *keys_.find(key) : keys_.wait(key, acquisition.index);
    if (later(entry.second.asked_at, queued_again_after) <= now_) entry.second.asked = NodeSet();
    const NodeSet late = able - entry.second.asked;
    // A writer that keeps readers out is next, and has to be notified first.
    if (reserves_it) {
      join(entry, able, Position::at_the_front);
    } else if (is_reserved) {
      join(entry, able, position_in_queue(entry.second));
    } else {
      join(entry, late, usual_position(acquisition));
    }
    raise_tickets(entry);
  });
  acquisition.waiting.queued = true;
}

template <typename Visit>
void WaitQueue::each_waiter(const WaitedKeys::Key& key, Visit&& visit) {
  for (const std::uint32_t index : key.waiters) {
    Acquisition& acquisition = acquisitions_.at(index);
    if (acquisition.waiting.queued && visit(acquisition) == Visited::enough) return;
  }
}

WaitQueue::Position WaitQueue::position_in_queue(const WaitedKeys::Key& key) {
  switch (position_of_new(key)) {
    case Position::at_the_front:
      return Position::at_the_front;
    case Position::unreserved:
      return Position::unreserved_at_the_back;
    default:
      return Position::at_the_back;
  }
}

WaitQueue::Position WaitQueue::usual_position(const Acquisition& acquisition) {
  // Two that need several resources would keep one each from the other.
  return acquisition.terms.more_resources.empty() ? Position::once : Position::unreserved;
}

WaitQueue::Position WaitQueue::position_of_new(const WaitedKeys::Key& key) {
  Position position = Position::once;
  bool needs_more = false;
  each_waiter(key, [&](const Acquisition& acquisition) {
    if (acquisition.waiting.reserved) position = Position::at_the_front;
    needs_more = needs_more || usual_position(acquisition) == Position::unreserved;
    return Visited::more;
  });
  return position == Position::once && needs_more ? Position::unreserved : position;
}

void WaitQueue::join(WaitedKeys::Entry& entry, NodeSet nodes, Position where) {
  WaitedKeys::Key& key = entry.second;
  NodeSet asked;
  nodes.each([&](NodeIndex node) {
    // A notification before we are subscribed would be lost. We are queued there once we are.
    if (nodes_[node].subscription.open && !nodes_[node].congested()) asked.add(node);
  });
  if (asked.empty()) return;
  if (key.asked.empty()) key.asked_at = now_;
  key.asked = key.asked | asked;
  key.contended_at = now_;
  if (where == Position::at_the_back || where == Position::unreserved_at_the_back) {
    key.ticket = 0;
    key.level = key.first = NodeSet();
  }
  send(entry, Verb::join_queue, asked, static_cast<std::int64_t>(where));
}

void WaitQueue::leave(Acquisition& acquisition, Left left, NodeSet taken_out) {
  if (!acquisition.waiting.queued) return;
  const bool had_ticket = acquisition.waiting.has_ticket;
  acquisition.waiting.queued = acquisition.waiting.has_ticket = false;
  if (!had_ticket) taken_out = NodeSet();
  each_key(acquisition, [&](const std::string& key) {
    WaitedKeys::Entry& entry = keys_.stop(key, acquisition.index);
    const bool others_wait = !entry.second.waiters.empty();
    if (acquisition.waiting.reserved) {
      leave(entry, Leave::unreserved);
      if (others_wait) join(entry, nodes_.up(), position_in_queue(entry.second));
      return;
    }
    if (others_wait) {
      // Who came later is to have a turn before others of ours.
      if (left == Left::granted) {
        return join(entry, nodes_.up(), position_in_queue(entry.second));
      }
      // Its last attempt may have taken us out of any queue.
      const bool tries = acquisition.state == Acquisition::State::in_round;
      const NodeSet there = tries ? NodeSet() : entry.second.asked;
      join(entry, nodes_.up() - there, position_of_new(entry.second));
      // Waiters behind it were not woken by its notification.
      return wake(entry.second, 0, false);
    }
    const bool others_enter = left == Left::granted && makes_room(acquisition);
    entry.second.settled = entry.second.asked | taken_out;
    entry.second.asked = entry.second.asked - taken_out;
    leave(entry, others_enter ? Leave::notifying : Leave::quietly);
  });
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
  send(entry, Verb::leave_queue, nodes, static_cast<std::int64_t>(how));
}

void WaitQueue::send(const WaitedKeys::Entry& entry, Verb verb, NodeSet nodes, std::int64_t how) {
  Stamp stamp;
  stamp.verb = verb;
  stamp.claim.index = entry.second.id;
  measure_reservation();
  outbox_.send(SendToQueue{{nodes, stamp}, &entry.first, how, entry.second.ticket});
}

void WaitQueue::answered(NodeIndex node, const Stamp& stamp, const Answer& answer) {
  WaitedKeys::Entry* const entry = keys_.find(stamp.claim.index);
  const bool queued = answer.reply == Reply::taken || answer.reply == Reply::gone;
  if (entry == nullptr || !queued || !entry->second.asked.has(node)) return;
  note_place(*entry, answer);
  if (answer.reply == Reply::gone) note_notified(entry->second, node);
  if (!entry->second.waiters.empty()) raise_tickets(*entry);
  each_waiter(entry->second, [this](Acquisition& acquisition) {
    if (acquisition.state != Acquisition::State::backing_off || acquisition.waiting.retry_at)
      return Visited::more;
    if (will_be_notified(acquisition)) woken_.push_back({acquisition.index, Instant::max(), true});
    return Visited::more;
  });
}

bool WaitQueue::will_be_notified(const Acquisition& acquisition) {
  if (!acquisition.waiting.queued || !can_be_notified(acquisition)) return false;
  NodeSet nodes;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].up() && nodes_[i].subscription.open) nodes.add(static_cast<NodeIndex>(i));
  }
  each_key(acquisition,
           [&](const std::string& key) { nodes = nodes & keys_.find(key)->second.queued; });
  return nodes.size() >= settings_.quorum;
}

bool WaitQueue::is_notified_by_quorum(const Acquisition& acquisition) const {
  // With a ticket, what was granted is passed on to who is first.
  const NodeSet granted = acquisition.waiting.has_ticket ? NodeSet() : acquisition.last.granted();
  return (acquisition.waiting.notified_by | granted).size() >= settings_.quorum;
}

bool WaitQueue::others_try(const Acquisition& acquisition) {
  if (makes_room(acquisition)) return false;
  bool others = false;
  each_key(acquisition, [&](const std::string& key) {
    each_waiter(keys_.find(key)->second, [&](const Acquisition& other) {
      // A writer is not kept waiting by readers that try: they are refused until it had its turn.
      const bool tries = other.state == Acquisition::State::in_round && !makes_room(other);
      others = others || (&other != &acquisition && tries);
      return others ? Visited::enough : Visited::more;
    });
  });
  return others;
}

void WaitQueue::note_notified(const WaitedKeys::Key& key, NodeIndex node) {
  each_waiter(key, [node](Acquisition& acquisition) {
    acquisition.waiting.notified_by.add(node);
    return Visited::more;
  });
}

void WaitQueue::wake(const WaitedKeys::Key& key, std::uint32_t before, bool at_once) {
  each_waiter(key, [&](Acquisition& acquisition) {
    // One of us, who comes first, is enough to find out, unless several may be let in.
    const Visited visited = makes_room(acquisition) ? Visited::more : Visited::enough;
    if (acquisition.state != Acquisition::State::backing_off) return visited;
    if (!will_be_notified(acquisition)) return Visited::more;
    if (is_notified_by_quorum(acquisition)) {
      acquisition.failed_attempts = 0;
      acquisition.waiting.retry_at = now_;
    } else if (before > 0) {
      // Who was notified ahead of us has so long to come.
      const Instant retry = later(now_, reserved_for_ + std::chrono::milliseconds(1));
      acquisition.waiting.retry_at = std::min(retry, acquisition.waiting.retry_at.value_or(retry));
    } else if (!acquisition.waiting.notified_by.empty()) {
      const Duration once = std::max(shortest_patience, 2 * nodes_.slowest_round_trip());
      // At last it is longer than a reservation: what is passed to us again and again, while others
      // have the rest, has to be passed to them.
      const Duration longest = std::max(longest_patience, 2 * reserved_for_);
      const unsigned doublings = std::min(acquisition.failed_attempts, 14U) / 2;
      const Duration patience = std::max(once, std::min(once * (1 << doublings), longest));
      const Instant retry = later(now_, random_.between(patience, 2 * patience));
      acquisition.waiting.retry_at = std::min(retry, acquisition.waiting.retry_at.value_or(retry));
    } else {
      return visited;
    }
    woken_.push_back({acquisition.index, Instant::max(), at_once});
    return visited;
  });
}

void WaitQueue::subscribed(NodeIndex node) {
  Link& link = nodes_[node];
  if (!link.subscription.wanted || link.subscription.open) return;
  link.subscription.open = true;
  for (WaitedKeys::Entry& entry : keys_.all()) {
    if (entry.second.waiters.empty() || !link.up()) continue;
    join(entry, NodeSet::of(node), position_of_new(entry.second));
  }
}

void WaitQueue::give_back(WaitedKeys::Entry& entry, NodeIndex node) {
  if (entry.second.settled.has(node)) return entry.second.settled.remove(node);
  left_.push_back(entry.second.id);
  if (!nodes_[node].up() || nodes_[node].congested()) return;
  send(entry, Verb::leave_queue, NodeSet::of(node), static_cast<std::int64_t>(Leave::quietly));
}

void WaitQueue::notified(const Notification& event) {
  WaitedKeys::Entry* const entry = &keys_.note(event.key);
  if (entry->second.waiters.empty()) {
    if (event.before == 0) give_back(*entry, event.node);
    return;
  }
  entry->second.contended_at = now_;
  if (event.before == 0) note_notified(entry->second, event.node);
  wake(entry->second, event.before, true);
}

void WaitQueue::unsubscribed(NodeIndex node) {
  nodes_[node].subscription = {false, false, later(now_, retry_after)};
  keys_.lost(node);
  wake_unsubscribed();
}

void WaitQueue::dropped(NodeIndex node) {
  Link::Subscription& subscription = nodes_[node].subscription;
  if (subscription.wanted) outbox_.emit(Unsubscribe{node});
  subscription.wanted = subscription.open = false;
  keys_.lost(node);
  wake_unsubscribed();
}

void WaitQueue::wake_unsubscribed() {
  acquisitions_.each([this](Acquisition& acquisition) {
    const bool asleep =
        acquisition.waiting.queued && acquisition.state == Acquisition::State::backing_off;
    if (!asleep || !can_be_notified(acquisition) || will_be_notified(acquisition)) return;
    // It may have missed its notification. An attempt that is due soon is not put off: nodes may
    // come and go more often than that.
    woken_.push_back({acquisition.index, acquisition.next_try});
  });
}

}  // namespace redlock::core
