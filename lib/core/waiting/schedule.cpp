#include "core/waiting/schedule.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::core {
namespace {

/// The shortest wait until nodes agree whose turn it is, and until the first client comes.
constexpr Duration shortest_patience = std::chrono::milliseconds(1);
/// Limits the wait for the other nodes, which grows with each refused attempt.
constexpr Duration longest_patience = std::chrono::milliseconds(64);

constexpr Duration shortest_scale = std::chrono::microseconds(100);
constexpr Duration longest_pause = std::chrono::milliseconds(50);
constexpr Duration outage_scale = std::chrono::milliseconds(2);
constexpr Duration longest_outage_pause = std::chrono::milliseconds(250);
/// The shortest sleep of a waiter that will be notified. It wakes because notifications can get
/// lost.
constexpr Duration shortest_sleep = std::chrono::milliseconds(2400);

/// The shortest wait of a sleeping client until it checks the key, on another node each time.
constexpr Duration shortest_until_check = std::chrono::milliseconds(400);

/// The most checks of a client in a second. Each is a script of a node, and a process may wait for
/// a hundred thousand keys.
constexpr std::int64_t most_checks = 2'000;

/// The shortest pause between attempts that compete with other libraries' clients.
constexpr Duration early_pause = std::chrono::milliseconds(5);

}  // namespace

void Schedule::plan(Acquisition& acquisition, Instant at_latest) {
  Waiting& waiting = acquisition.waiting.by(me);
  const Refusal& refusal = acquisition.refusal;
  const bool is_notified = will_be_notified(acquisition);
  if (is_notified && !others_try(acquisition)) handle_notifications(acquisition);
  const bool sleeps = is_notified && refusal.why == Errc::held;
  // A standby asks at the end of a reservation, and once more if a later reservation is then in its
  // way. The reservations after those are for the next standby.
  const bool is_asker = is_first(acquisition) || waiting.watches;
  // No release marks the end of an interval: the first client in the queue asks. That client may
  // have gone, so the others ask a moment later.
  const bool sits_out = sleeps && !is_asker && refusal.obstacle == Obstacle::interval;
  Instant next = later(now_, pause(acquisition, sleeps, is_asker || sits_out));
  if (sits_out) next = later(next, queues_.reserved_for());
  next = std::min({next, waiting.retry_at.value_or(at_latest), at_latest});
  if (is_early(acquisition)) {
    next = std::min(next, later(now_, random_.between(early_pause, 2 * early_pause)));
  }
  // See WaitQueue::gives_back().
  if (waiting.keeps_any() && !waiting.has_turn) {
    next = std::min(next, std::max(now_, waiting.turn_until));
  }
  waiting.plan = {.next_try = next, .asleep = sleeps && !waiting.retry_at};
  // A lock of another library is polled, or tracked.
  const bool checks = waiting.plan.asleep && !waiting.tracks && is_first_of_ours(acquisition);
  if (checks) waiting.plan.next_check = later(now_, until_check());
  if (waiting.queued && !waiting.plan.asleep) keys_.find_for(acquisition)->second.has_awake = true;
}

Duration Schedule::pause(const Acquisition& acquisition, bool sleeps, bool notices_expiry) {
  const Refusal& refusal = acquisition.refusal;
  const auto backoff = [&](Duration scale, Duration longest) {
    const unsigned doublings = std::min(*acquisition.failed_attempts, 12U);
    const Duration base = std::min(std::max(scale, shortest_scale) * (1 << doublings), longest);
    return random_.between(base / 2, base);
  };
  const Duration round_trip = nodes_.quorum_round_trip();
  const Errc why = refusal.why;
  if (why == Errc::unavailable || why == Errc::excluded) {
    return backoff(outage_scale, longest_outage_pause);
  }
  const Duration pause =
      sleeps ? random_.between(shortest_sleep, longest_sleep) : backoff(round_trip, longest_pause);
  const bool waits_for_expiry = why == Errc::held && (notices_expiry || !sleeps);
  if (!waits_for_expiry || !refusal.free_in) return pause;
  // A millisecond after the expiry: the servers count in milliseconds, and a key that is almost
  // gone still refuses. The pause is limited before the millisecond is added, because a key can
  // last longer than a Duration can express.
  return std::min(pause, std::min(pause, *refusal.free_in) + std::chrono::milliseconds(1));
}

bool Schedule::can_be_notified(const Acquisition& acquisition) const {
  const Refusal& refusal = acquisition.refusal;
  if (refusal.why == Errc::split) {
    // Two clients that split the nodes give them back. If both were notified of that, they would
    // split the nodes again. With tickets, the nodes are passed on to one of them; and readers do
    // not exclude each other.
    const Kind kind = acquisition.terms->kind();
    return acquisition.waiting->has_ticket || kind == Kind::shared || kind == Kind::several ||
           refusal.is_among_foreign;
  }
  if (refusal.why != Errc::held) return false;
  return !refusal.is_foreign || tracked_.able().size() >= settings_.quorum;
}

bool Schedule::will_be_notified(const Acquisition& acquisition) {
  if (!acquisition.waiting->queued || !can_be_notified(acquisition)) return false;
  const WaitedKeys::Entry& entry = *keys_.find_for(acquisition);
  NodeSet nodes = subscriptions_.notifying() & entry.second.queued;
  if (acquisition.refusal->is_foreign) {
    const TrackedKeys::Entry* const tracked = tracked_.find(entry.first);
    nodes = nodes & (tracked != nullptr ? tracked->second.tracking : NodeSet());
  }
  return nodes.size() >= settings_.quorum;
}

bool Schedule::is_notified_by_quorum(const Acquisition& acquisition) const {
  // With a ticket, the nodes that granted the attempt pass the resource on to the first client in
  // the queue.
  const NodeSet granted =
      acquisition.waiting->has_ticket ? NodeSet() : acquisition.refusal->granted;
  return (acquisition.waiting->notified_by | granted).size() >= settings_.quorum;
}

void Schedule::handle_notifications(Acquisition& acquisition) {
  // One node is enough if other libraries' clients would take what became free.
  const bool saw_quick_change =
      acquisition.waiting->saw_change && acquisition.refusal->is_among_foreign;
  if (is_notified_by_quorum(acquisition) || saw_quick_change) {
    acquisition.waiting.by(me).retry_at = now_;
  } else if (is_in_turn(acquisition) && !acquisition.waiting->retry_at) {
    wait_for_others(acquisition);
  }
  watch(acquisition, keys_.find_for(acquisition)->second);
}

bool Schedule::is_in_turn(const Acquisition& acquisition) {
  // A change of the key says less than a turn: another library may have taken the key again.
  return !acquisition.waiting->notified_by.empty() && !acquisition.waiting->tracks;
}

bool Schedule::others_try(const Acquisition& acquisition) {
  if (acquisition.makes_room()) return false;
  bool others = false;
  keys_.each_waiter(keys_.find_for(acquisition)->second, [&](const Acquisition& other) {
    // Readers that try do not keep a writer waiting: they are refused until the writer has had its
    // turn.
    const bool tries = other.state == Acquisition::State::in_round && !other.makes_room();
    others = &other != &acquisition && tries;
    return others ? WaitedKeys::Visited::enough : WaitedKeys::Visited::more;
  });
  return others;
}

Duration Schedule::until_check() {
  // Each check is a request to one of the nodes, an attempt one to each of them.
  const auto nodes = static_cast<std::int64_t>(settings_.nodes.size());
  const auto keys = static_cast<std::int64_t>(keys_.all().size());
  const Duration shortest =
      std::max({shortest_until_check, Duration(std::chrono::seconds(28)) / (5 + 18 * nodes),
                Duration(std::chrono::seconds(1)) * keys / most_checks});
  return random_.between(shortest, shortest + shortest / 20);
}

bool Schedule::is_first(const Acquisition& acquisition) {
  const bool of_permits = acquisition.terms->traits().is_chosen && acquisition.waiting->queued;
  if (!of_permits && !acquisition.waiting->has_ticket) return true;  // as far as is known here
  if (of_permits && !is_first_of_ours(acquisition)) return false;
  return !keys_.find_for(acquisition)->second.first.empty();
}

bool Schedule::is_first_of_ours(const Acquisition& acquisition) {
  bool is_ours = false;
  keys_.each_waiter(keys_.find_for(acquisition)->second, [&](const Acquisition& first) {
    is_ours = &first == &acquisition;
    return WaitedKeys::Visited::enough;
  });
  return is_ours;
}

bool Schedule::is_early(const Acquisition& acquisition) {
  return acquisition.refusal->is_among_foreign && is_first(acquisition) &&
         tracked_.able().size() < settings_.quorum;
}

void Schedule::wait_for_others(Acquisition& acquisition) {
  const Duration once = std::max(shortest_patience, 2 * nodes_.quorum_round_trip());
  // The longest wait exceeds a reservation: if we keep getting some nodes and others keep the rest,
  // our nodes have to be passed on to the others.
  const Duration usual = std::max(longest_patience, 2 * queues_.reserved_for());
  // A node that granted the last attempt, which others refused because of a holder, lacks the
  // holder's key. It notifies after each such attempt, and that is no news.
  const Refusal& refusal = acquisition.refusal;
  const bool is_news = refusal.why != Errc::held || refusal.obstacle == Obstacle::reservation ||
                       !(acquisition.waiting->notified_by - refusal.granted).empty();
  // The wait is short if another library would take the resource.
  const Duration longest = refusal.is_among_foreign ? kept_for / 4
                           : is_news                ? usual
                                                    : shortest_sleep;
  const unsigned doublings = std::min(*acquisition.failed_attempts, 24U) / 2;
  const Duration patience = std::max(once, std::min(once * (1 << doublings), longest));
  retry_by(acquisition, later(now_, random_.between(patience, 2 * patience)));
}

void Schedule::wait_in_turn(Acquisition& acquisition) {
  if (is_in_turn(acquisition)) wait_for_others(acquisition);
}

void Schedule::retry_by(Acquisition& acquisition, Instant at) {
  std::optional<Instant>& retry_at = acquisition.waiting.by(me).retry_at;
  retry_at = std::min(at, retry_at.value_or(at));
}

bool Schedule::wake(Acquisition& acquisition, std::uint32_t before, Waked how) {
  if (is_notified_by_quorum(acquisition)) {
    acquisition.failed_attempts.by(me) = 0;
    acquisition.waiting.by(me).retry_at = now_;
  } else if (how == Waked::by_change && acquisition.refusal->is_among_foreign) {
    // The first client takes the resource and keeps it from then on. The others only stand by (see
    // pass_on).
    if (before > 0) return false;
    acquisition.waiting.by(me).retry_at = now_;
  } else if (before > 0) {
    // The clients that were notified before us have this long to come.
    retry_by(acquisition, later(now_, queues_.reserved_for() + std::chrono::milliseconds(1)));
  } else if (!acquisition.waiting->notified_by.empty()) {
    wait_for_others(acquisition);
  } else {
    return false;
  }
  return true;
}

void Schedule::watch(Acquisition& acquisition, WaitedKeys::Key& key) {
  Waiting& waiting = acquisition.waiting.by(me);
  const Instant until = std::exchange(key.watch_until, Instant::min());
  const bool is_over = later(until, queues_.reserved_for()) < now_;
  if (!is_over) waiting.watch_until = std::max(waiting.watch_until, until);
  if (waiting.watch_until > Instant::min()) retry_by(acquisition, waiting.watch_until);
}

bool Schedule::hand_on_watch(Acquisition& acquisition, WaitedKeys::Key& key) {
  Waiting& waiting = acquisition.waiting.by(me);
  Instant until = std::exchange(waiting.watch_until, Instant::min());
  // A standby that will ask once more, at the end of another reservation, hands that on, too. If it
  // waits for the end of a lease, which may be much later, it does not.
  const bool comes_soon = waiting.plan.next_try <= later(now_, 2 * queues_.reserved_for());
  if (waiting.watches && comes_soon) until = std::max(until, waiting.plan.next_try);
  if (until <= now_) return false;
  key.watch_until = std::max(key.watch_until, until);
  return true;
}

}  // namespace redlock::core
