#include <algorithm>
#include <chrono>
#include <utility>

#include "core/waiting/wait_queue.hpp"
#include "redlock/limits.hpp"

/// The attempts of a waiting acquisition, and the queue positions that they carry.
namespace redlock::core {
namespace {

/// A resource counts as contended for this long after somebody waited for it: the next acquisition
/// queues at once.
constexpr Duration contended_for = std::chrono::seconds(1);

/// The longest time for which a caller of several resources keeps what was passed on to it, however
/// often another one of them is passed on to it meanwhile.
constexpr Duration longest_turn = std::chrono::seconds(4);

static_assert(limits::resources <= 64, "QueuePosition::kept has a bit for each");

}  // namespace

bool WaitQueue::can_have_ticket(const Acquisition& acquisition) {
  return acquisition.give_up && acquisition.terms->traits().has_ticket;
}

Duration WaitQueue::length_of_turn(const Acquisition& acquisition) const {
  // Twice as long after each turn in vain: the others hold the resources for longer than that.
  const unsigned doublings = std::min(acquisition.waiting->vain_turns, 12U);
  return std::min({reserved_for() * (1 << doublings), longest_turn, *acquisition.give_up - now_});
}

std::uint64_t WaitQueue::kept_after(const Acquisition& acquisition) const {
  const Waiting& waiting = acquisition.waiting;
  const std::uint64_t refused = acquisition.refusal->resource;
  const std::uint64_t blocking = refused > 0 ? refused : waiting.blocked_by;
  std::uint64_t kept = 0;
  for (std::uint64_t which = 1; which <= waiting.positions.size(); ++which) {
    const bool has = which == waiting.blocked_by || waiting.keeps(which);
    const bool stays = has && which != blocking && may_keep(acquisition, which, blocking);
    if (stays) kept |= which_bit(which);
  }
  return kept;
}

bool WaitQueue::may_keep(const Acquisition& acquisition, std::uint64_t which,
                         std::uint64_t blocking) const {
  const Waiting& waiting = acquisition.waiting;
  if (waiting.turn_until <= now_) return false;
  // Two clients that each keep what the other one waits for lose time. So no client keeps a
  // resource while it waits for an earlier one that another client has first.
  const bool is_behind = (waiting.is_behind && blocking == waiting.blocked_by) ||
                         acquisition.refusal->obstacle == Obstacle::reservation;
  const LockTerms& terms = acquisition.terms;
  return !is_behind || terms.resource_at(which) < terms.resource_at(blocking);
}

bool WaitQueue::gives_back(Acquisition& acquisition) {
  Waiting& waiting = acquisition.waiting.by(me);
  if (!waiting.keeps_any() || waiting.has_turn || now_ < waiting.turn_until) return false;
  ++waiting.vain_turns;
  leave_unkept(acquisition, waiting.blocked_by);
  return true;
}

bool WaitQueue::is_contended(const WaitedKeys::Key& key) const {
  return key.contended_at > Instant::min() && now_ < later(key.contended_at, contended_for);
}

bool WaitQueue::is_contended(std::string_view resource) {
  const WaitedKeys::Entry* const entry = keys_.find(resource);
  return entry != nullptr && is_contended(entry->second);
}

QueuePosition WaitQueue::queue_position(Acquisition& acquisition) {
  QueuePosition position;
  Waiting& waiting = acquisition.waiting.by(me);
  if (client_id().empty() || !acquisition.give_up) return position;
  const bool tickets = can_have_ticket(acquisition) && queues_.can_queue();
  if (!waiting.queued && tickets) {
    WaitedKeys::Entry* const entry = keys_.find_for(acquisition);
    const bool alone = entry != nullptr && entry->second.waiters.empty();
    if (!alone || !is_contended(entry->second)) return position;
    begin_to_wait(acquisition, entry->second);
  }
  if (!waiting.queued) return position;
  if (acquisition.terms->kind() != Kind::several && keys_.find_for(acquisition)->second.kept > 0) {
    // The resource is reserved for another one of our waiters, which keeps it.
    waiting.has_ticket = false;
    return position;
  }
  position.as_client = true;
  if (acquisition.terms->kind() == Kind::several) {
    if (std::exchange(waiting.has_turn, false)) {
      waiting.turn_began = now_;
      waiting.turn_until = later(now_, length_of_turn(acquisition));
      if (waiting.keeps_any()) {
        waiting.turn_until = std::min(waiting.turn_until, later(waiting.keeps_since, longest_turn));
      }
    }
    position.waits_for = waiting.blocked_by;
    position.keep_until = waiting.turn_until;
  }
  waiting.has_ticket = tickets;
  if (waiting.has_ticket) {
    WaitedKeys::Key& key = keys_.find_for(acquisition)->second;
    position.ticket = key.ticket;
    key.last_attempt = acquisition.index;
    key.taking = NodeSet();
  }
  return position;
}

bool WaitQueue::has_waiters(std::string_view resource) {
  const WaitedKeys::Entry* const entry = keys_.find(resource);
  return entry != nullptr && !entry->second.waiters.empty();
}

void WaitQueue::note_contended(std::string_view resource) {
  WaitedKeys::Key& key = keys_.note(resource).second;
  key.contended_at = now_;
  if (key.waiters.empty()) keys_.forget_later(key);
}

void WaitQueue::check(Acquisition& acquisition) {
  queues_.check(*keys_.find_for(acquisition));
  plan_check(acquisition);
}

void WaitQueue::plan_check(Acquisition& acquisition) {
  acquisition.waiting.by(me).plan.next_check = later(now_, schedule_.until_check());
}

void WaitQueue::asked(const Acquisition& acquisition, NodeSet nodes) {
  if (!acquisition.waiting->queued) return;
  WaitedKeys::Key& key = keys_.find_for(acquisition)->second;
  key.asked = key.asked | nodes;
  key.taking = key.taking | nodes;
  key.asked_at = key.contended_at = now_;
}

void WaitQueue::answered_attempt(const Acquisition& acquisition, const Answer& answer,
                                 bool ours_yet) {
  if (!acquisition.waiting->queued) return;
  WaitedKeys::Entry& entry = *keys_.find_for(acquisition);
  const bool granted = answer.reply == Reply::granted || answer.reply == Reply::behind;
  if (!granted && ours_yet) entry.second.taking.remove(answer.node);
  if (answer.reply == Reply::taken && answer.ticket > 0) {
    queues_.note_position(entry, answer);
    // The acquisition already waits, and may not have known that it is the one to notice an expiry.
    const bool waits = acquisition.state == Acquisition::State::backing_off;
    if (!waits) return;
    woken_.push_back({acquisition.index, acquisition.waiting->plan.next_try});
    return queues_.raise_tickets(entry);
  }
  // After a grant that no longer counts, a release queues us again.
  if (!ours_yet) return;
  if (granted) entry.second.asked.remove(answer.node);
  entry.second.queued.remove(answer.node);
}

void WaitQueue::restore_position(const Acquisition& acquisition, QueuePosition& position,
                                 NodeSet nodes) {
  if (acquisition.terms->kind() == Kind::several && position.as_client) {
    position.kept = kept_after(acquisition);
    position.keep_until = acquisition.waiting->turn_until;
    position.again = position.kept != 0;
    return;
  }
  nodes = nodes & position.nodes;
  if (!acquisition.waiting->queued || !position.ticket) return;
  WaitedKeys::Key& key = keys_.find_for(acquisition)->second;
  // If no quorum names a holder, as during the rest of an interval, no release will notify us: only
  // an answer of the queue says that there is no holder.
  const bool waits = acquisition.refusal->is_known;
  position.ticket = key.ticket;
  position.again = true;
  if (acquisition.refusal->is_among_foreign) position.reserved_for = reserved_for() + kept_for;
  key.asked = key.asked | nodes;
  const NodeSet queued = nodes & subscriptions_.notifying();
  key.queued = key.queued | queued;
  // The release raises our ticket there, too.
  if (key.ticket > 0 && waits) key.at_ticket = key.at_ticket | queued;
}

void WaitQueue::queued_for_nothing(std::string_view queue, std::uint32_t permits, NodeIndex node) {
  WaitedKeys::Entry& entry = keys_.note(queue);
  entry.second.permits = std::max(entry.second.permits, permits);
  // Another of our waiters has come, and wants what is reserved for us.
  if (!entry.second.waiters.empty()) return;
  keys_.forget_later(entry.second);
  queues_.leave_quietly(entry, node);
}

}  // namespace redlock::core
