#include <algorithm>
#include <chrono>

#include "core/claim/permits.hpp"
#include "core/waiting/wait_queue.hpp"

/// Succession: which ticket an acquisition has, and what of a reservation is its own.
namespace redlock::core {
namespace {

/// A resource that was waited for so lately is queued for at once.
constexpr Duration contended_for = std::chrono::seconds(1);
/// The length of a reservation in round trips. The successor needs one.
constexpr int reserved_round_trips = 8;
constexpr Duration short_reservation = std::chrono::milliseconds(100);
constexpr int fewest_round_trips = 3;

}  // namespace

bool WaitQueue::can_have_ticket(const Acquisition& acquisition) {
  return acquisition.give_up && acquisition.terms.traits().has_ticket;
}

void WaitQueue::measure_reservation() {
  // In steps, so that requests are seldom encoded anew.
  reserved_for_ = shortest_reservation;
  const Duration round_trip = nodes_.quorum_round_trip();
  const Duration wanted =
      std::min({reserved_round_trips * round_trip,
                std::max(short_reservation, fewest_round_trips * round_trip), settings_.max_ttl});
  while (reserved_for_ < wanted) reserved_for_ *= 2;
}

bool WaitQueue::is_contended(const WaitedKeys::Key& key) const {
  return key.contended_at > Instant::min() && now_ < later(key.contended_at, contended_for);
}

bool WaitQueue::is_contended(std::string_view resource) {
  const WaitedKeys::Entry* const entry = keys_.find(resource);
  return entry != nullptr && is_contended(entry->second);
}

bool WaitQueue::can_queue() const {
  const NodeSet run_scripts = nodes_.able().to(Capability::run_scripts);
  return (subscriptions_.notifying() & run_scripts).size() >= settings_.quorum;
}

WaitedKeys::Entry* WaitQueue::find_queue(const Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  return terms.traits().is_chosen ? keys_.find(any_permit_name(terms.resource))
                                  : keys_.find(terms.resource_at(acquisition.waiting.blocked_by));
}

WaitedKeys::Entry& WaitQueue::make_queue(const Acquisition& acquisition) {
  const LockTerms& terms = acquisition.terms;
  return terms.traits().is_chosen ? keys_.note(any_permit_name(terms.resource))
                                  : keys_.note(terms.resource_at(acquisition.waiting.blocked_by));
}

QueuePlace WaitQueue::queue_place(Acquisition& acquisition) {
  QueuePlace place;
  Waiting& waiting = acquisition.waiting;
  if (client_id().empty() || !acquisition.give_up) return place;
  const bool tickets = can_have_ticket(acquisition) && can_queue();
  if (!waiting.queued && tickets) {
    WaitedKeys::Entry* const entry = find_queue(acquisition);
    const bool alone = entry != nullptr && entry->second.waiters.empty();
    if (!alone || !is_contended(entry->second)) return place;
    begin_to_wait(acquisition, entry->second);
  }
  if (!waiting.queued) return place;
  if (acquisition.terms.kind() != Kind::several && find_queue(acquisition)->second.kept > 0) {
    // What is reserved for us is another one's.
    waiting.has_ticket = false;
    return place;
  }
  place.as_client = true;
  waiting.has_ticket = tickets;
  if (waiting.has_ticket) {
    WaitedKeys::Key& key = find_queue(acquisition)->second;
    place.ticket = key.ticket;
    key.last_attempt = acquisition.index;
    key.taking = NodeSet();
  }
  return place;
}

bool WaitQueue::has_waiters(std::string_view resource) {
  const WaitedKeys::Entry* const entry = keys_.find(resource);
  return entry != nullptr && !entry->second.waiters.empty();
}

void WaitQueue::note_contended(std::string_view resource) {
  WaitedKeys::Key& key = keys_.note(resource).second;
  key.contended_at = now_;
  if (key.waiters.empty()) left_.push_back(key.id);
}

void WaitQueue::asked(const Acquisition& acquisition, NodeSet nodes) {
  if (!acquisition.waiting.queued) return;
  WaitedKeys::Key& key = find_queue(acquisition)->second;
  key.asked = key.asked | nodes;
  key.taking = key.taking | nodes;
  key.asked_at = key.contended_at = now_;
}

void WaitQueue::answered_attempt(const Acquisition& acquisition, const Answer& answer,
                                 bool ours_yet) {
  if (!acquisition.waiting.queued) return;
  WaitedKeys::Entry& entry = *find_queue(acquisition);
  const bool granted = answer.reply == Reply::granted || answer.reply == Reply::behind;
  if (!granted && ours_yet) entry.second.taking.remove(answer.node);
  if (answer.reply == Reply::taken && answer.ticket > 0) {
    note_place(entry, answer);
    // It waits already, and did not know that it is the one to notice an expiry.
    const bool waits = acquisition.state == Acquisition::State::backing_off;
    if (!waits) return;
    woken_.push_back({acquisition.index, acquisition.waiting.plan.next_try});
    return raise_tickets(entry);
  }
  // Behind a grant that nobody counts any more, a release queues us again.
  if (!ours_yet) return;
  if (granted) entry.second.asked.remove(answer.node);
  entry.second.queued.remove(answer.node);
}

void WaitQueue::place_again(const Acquisition& acquisition, QueuePlace& place, NodeSet nodes) {
  if (acquisition.waiting.queued && acquisition.terms.kind() == Kind::several && place.as_client) {
    place.kept_before = acquisition.refusal.resource;
    place.again = place.kept_before > 0;
    return;
  }
  nodes = nodes & place.nodes;
  if (!acquisition.waiting.queued || !place.ticket) return;
  WaitedKeys::Key& key = find_queue(acquisition)->second;
  // Where no quorum will notify us, as with the rest of an interval, only an answer from the queue
  // says that there is no holder.
  const bool waits = acquisition.refusal.is_known;
  place.ticket = key.ticket;
  place.again = true;
  if (acquisition.refusal.is_beside) place.reserved_for = reserved_for_ + kept_for;
  key.asked = key.asked | nodes;
  const NodeSet queued = nodes & subscriptions_.notifying();
  key.queued = key.queued | queued;
  // It raises the ticket as well.
  if (key.ticket > 0 && waits) key.level = key.level | queued;
}

void WaitQueue::queued_for_nothing(std::string_view queue, std::uint32_t permits, NodeIndex node) {
  WaitedKeys::Entry& entry = keys_.note(queue);
  entry.second.permits = std::max(entry.second.permits, permits);
  // Somebody waits again: what is reserved for us is wanted.
  if (!entry.second.waiters.empty()) return;
  left_.push_back(entry.second.id);
  if (!nodes_[node].up() || nodes_[node].congested()) return;
  send(entry, Verb::leave_queue, NodeSet::of(node), static_cast<Mode>(Leave::quietly));
}

void WaitQueue::note_place(WaitedKeys::Entry& entry, const Answer& answer) {
  WaitedKeys::Key& key = entry.second;
  if (subscriptions_.open().has(answer.node)) key.queued.add(answer.node);
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
  const NodeSet lower = key.queued - key.level - being_taken(entry);
  if (lower.empty()) return;
  key.level = key.level | lower;
  join(entry, lower, position_of(key));
}

void WaitQueue::give_back(WaitedKeys::Entry& entry, NodeIndex node) {
  if (entry.second.settled.has(node)) return entry.second.settled.remove(node);
  if (!nodes_[node].up() || nodes_[node].congested()) return;
  send(entry, Verb::leave_queue, NodeSet::of(node), static_cast<Mode>(Leave::quietly));
}

}  // namespace redlock::core
