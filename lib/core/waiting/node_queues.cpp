#include "core/waiting/node_queues.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {
namespace {

/// How long until the client is queued again, well before nodes forget it.
constexpr Duration queued_again_after = queued_for / 3;

/// The length of a reservation in round trips. The successor needs one.
constexpr int reserved_round_trips = 8;
/// The limit of a reservation, unless `fewest_round_trips` take longer.
constexpr Duration short_reservation = std::chrono::milliseconds(100);
constexpr int fewest_round_trips = 3;

/// The lowest bit of a WaitedKeys::Position: at the back.
constexpr std::uint8_t back = 1U;

}  // namespace

WaitedKeys::Position NodeQueues::position_of(const Key& key) {
  if (key.permits > 0) return Position::any_permit;
  if (key.need_more > 0) return Position::of_several;
  return key.alone > 0 ? Position::once : Position::shared;
}

void NodeQueues::join(Entry& entry, NodeSet nodes, Where where) {
  Key& key = entry.second;
  // A node to which we are not subscribed is not asked, because its notification would be lost;
  // WaitQueue::subscribed queues us there. Neither is a node that may have granted our attempt,
  // because the grant takes us out of its queue: queued again after it, we would be the successor
  // of our own lease. If that round is lost, its release queues us again.
  const NodeSet asked = nodes_.open(nodes & subscriptions_.open()) - keys_.being_taken(entry);
  if (asked.empty()) return;
  key.position = position_of(key);
  if (key.asked.empty()) key.asked_at = now_;
  key.asked = key.asked | asked;
  key.contended_at = now_;
  auto mode = static_cast<Mode>(key.position);
  if (where == Where::at_the_back) {
    mode |= back;
    key.ticket = 0;
    key.at_ticket = key.first = NodeSet();
  }
  send(entry, Verb::join_queue, asked, mode);
}

void NodeQueues::renew(Entry& entry, NodeSet nodes) {
  Key& key = entry.second;
  const bool again = later(key.asked_at, queued_again_after) <= now_;
  if (again || is_out_of_position(key)) key.asked = NodeSet();
  join(entry, nodes - key.asked);
  raise_tickets(entry);
}

void NodeQueues::leave(Entry& entry, Leave how) {
  const NodeSet nodes = nodes_.open(entry.second.asked);
  entry.second.forget_position();
  if (!nodes.empty()) send(entry, Verb::leave_queue, nodes, static_cast<Mode>(how));
}

void NodeQueues::leave_quietly(const Entry& entry, NodeIndex node) {
  const NodeSet nodes = nodes_.open(NodeSet::of(node));
  if (!nodes.empty()) send(entry, Verb::leave_queue, nodes, static_cast<Mode>(Leave::quietly));
}

void NodeQueues::give_back(Entry& entry, NodeIndex node) {
  if (entry.second.late.has(node)) return entry.second.late.remove(node);
  leave_quietly(entry, node);
}

void NodeQueues::note_position(Entry& entry, const Answer& answer) {
  Key& key = entry.second;
  if (subscriptions_.open().has(answer.node)) key.queued.add(answer.node);
  key.first.remove(answer.node);
  if (answer.is_first) key.first.add(answer.node);
  if (answer.ticket == 0) return;
  if (answer.ticket > key.ticket) {
    key.ticket = answer.ticket;
    key.at_ticket = NodeSet();
  }
  if (answer.ticket == key.ticket) key.at_ticket.add(answer.node);
}

NodeSet NodeQueues::able_to_check(const Entry& entry) const {
  const NodeSet queued = nodes_.open(entry.second.queued & subscriptions_.open());
  return queued - keys_.being_taken(entry) - entry.second.free;
}

void NodeQueues::check(Entry& entry) {
  Key& key = entry.second;
  const NodeSet nodes = able_to_check(entry);
  if (nodes.empty()) return;
  const NodeSet after = nodes - NodeSet::first(key.checked + std::size_t{1});
  key.checked = (after.empty() ? nodes : after).lowest();
  check(entry, NodeSet::of(key.checked));
}

void NodeQueues::check(Entry& entry, NodeSet nodes) {
  entry.second.checking = entry.second.checking | nodes;
  send(entry, Verb::check_queue, nodes, Mode{0});
}

bool NodeQueues::note_check(Entry& entry, NodeIndex node, bool is_free) {
  Key& key = entry.second;
  if (!is_free) key.free.remove(node);
  if (!is_free || key.free.has(node)) return false;
  key.free.add(node);
  if (key.free.size() >= settings_.quorum) return true;
  // A node that missed the holder's request is free while the others are not.
  const NodeSet others = able_to_check(entry);
  if (key.checking.empty() && !others.empty()) check(entry, others);
  return false;
}

void NodeQueues::raise_tickets(Entry& entry) {
  Key& key = entry.second;
  if (key.ticket == 0 || key.queued.size() < settings_.quorum) return;
  const NodeSet lower = key.queued - key.at_ticket - keys_.being_taken(entry);
  key.at_ticket = key.at_ticket | lower;
  join(entry, lower);
}

void NodeQueues::send_in_full(Entry& entry, NodeIndex node, const Stamp& stamp) {
  if (stamp.was_in_full() || nodes_.open(NodeSet::of(node)).empty()) return;
  // If a request to do the opposite was sent after this one, only the later request is sent again.
  const bool leaves = stamp.verb == Verb::leave_queue;
  if (entry.second.asked.has(node) == leaves) return;
  if (!leaves && keys_.being_taken(entry).has(node)) return;  // as in join()
  Mode mode = stamp.mode();
  // A ticket that other nodes have given us is better than a new one.
  if (!leaves && entry.second.ticket > 0) mode &= static_cast<Mode>(~back);
  send(entry, stamp.verb, NodeSet::of(node), mode, ScriptForm::text);
}

bool NodeQueues::can_queue() const {
  const NodeSet run_scripts = nodes_.able().to(Capability::run_scripts);
  return (subscriptions_.notifying() & run_scripts).size() >= settings_.quorum;
}

void NodeQueues::measure_reservation() {
  // Grows in steps, so that requests rarely have to be encoded anew.
  reserved_for_ = shortest_reservation;
  const Duration round_trip = nodes_.quorum_round_trip();
  const Duration wanted =
      std::min({reserved_round_trips * round_trip,
                std::max(short_reservation, fewest_round_trips * round_trip), settings_.max_ttl});
  while (reserved_for_ < wanted) reserved_for_ *= 2;
}

void NodeQueues::send(const Entry& entry, Verb verb, NodeSet nodes, Mode mode, ScriptForm form) {
  measure_reservation();
  Terms& terms = outbox_.send(nodes, Stamp::of_queue(verb, entry.second.id, mode, form), form);
  terms.resource = entry.first;
  terms.client = subscriptions_.client_id().view();
  terms.queue_mode = mode;
  terms.ticket = entry.second.ticket;
  terms.permits = entry.second.permits;
  terms.reserved_for = reserved_for_;
  // Joining and leaving can both pass a free resource on.
  tracked_.may_be_written(entry.first, nodes);
  tracked_queues_.may_be_written(entry.first, nodes);
}

}  // namespace redlock::core
