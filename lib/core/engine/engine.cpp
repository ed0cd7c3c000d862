#include "core/engine/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// Events that are handled before overdue work. The engine reports no loss of a lease that its
/// holder gives up; if that is too late, the client does (LeaseCell::end). Nothing may be sent to a
/// node that is down.
bool only_takes_away(const Event& event) {
  return std::holds_alternative<Release>(event) || std::holds_alternative<Detach>(event) ||
         std::holds_alternative<NodeDown>(event);
}

}  // namespace

Engine::Engine(Settings settings, Randomness& random)
    : settings_(std::move(settings)), random_(random), nodes_(settings_), outbox_(nodes_) {
  REDLOCK_ASSERT(!settings_.nodes.empty() && settings_.nodes.size() <= limits::nodes);
  REDLOCK_ASSERT(settings_.quorum >= majority(settings_.nodes.size()));
  REDLOCK_ASSERT(settings_.quorum <= settings_.nodes.size());
}

void Engine::step(Instant now, const Event& event, std::vector<Command>& out) {
  REDLOCK_ASSERT(now >= now_);
  now_ = now;
  nodes_.set_now(now);
  outbox_.open(now, out);
  wait_queue_.begin_step(now);
  tracking_.begin_step();
  reap();
  // Overdue work comes first: an answer that arrives after the deadline must find the lease lost.
  const bool takes_away = only_takes_away(event);
  if (takes_away) {
    handle(event);
    drain();
  }
  fire_due();
  drain();
  if (!takes_away) {
    handle(event);
    drain();
  }
  if (!space_queue_.empty()) use_space();
  enroller_.end_step();
  reigns_.end_step();
  tracking_.end_step();
  if (closing_.has_begun()) report_drained();
  outbox_.close();
}

/// Whom an event concerns.
void Engine::handle(const Event& event) {
  struct Handler {
    Engine& engine;
    void operator()(const Acquire& what) const { engine.begin(what); }
    void operator()(const Extend& what) const { engine.leases_.extend(what); }
    void operator()(const Downgrade& what) const { engine.leases_.downgrade(what); }
    void operator()(const Release& what) const { engine.releases_.release(what); }
    void operator()(const Detach& what) const { engine.releases_.detach(what); }
    void operator()(const ExtendToken& what) const { engine.by_token_.extend(what); }
    void operator()(const DowngradeToken& what) const { engine.by_token_.downgrade(what); }
    void operator()(const Adopt& what) const { engine.by_token_.adopt(what); }
    void operator()(const ReleaseToken& what) const { engine.by_token_.release(what); }
    void operator()(const Inspect& what) const { engine.inspections_.start(what); }
    void operator()(const Observe& what) const { engine.inspections_.start(what); }
    void operator()(const WatchQueue& what) const { engine.leases_.watch_queue(what); }
    void operator()(const Cancel& what) const { engine.cancel(what); }
    void operator()(const Answer& what) const { engine.answers_.take(what); }
    void operator()(const PlainYeses& what) const { engine.answers_.take(what); }
    void operator()(const NodeUp& what) const { engine.contacts_.came_up(what); }
    void operator()(const NodeDown& what) const { engine.contacts_.went_down(what); }
    void operator()(const Subscribed& what) const { engine.wait_queue_.subscribed(what.node); }
    void operator()(const Notification& what) const { engine.wait_queue_.notified(what); }
    void operator()(const Unsubscribed& what) const { engine.wait_queue_.unsubscribed(what.node); }
    void operator()(const Changed& what) const { engine.take(what); }
    void operator()(const TimePassed&) const { engine.contacts_.tend(); }
    void operator()(const TurnEnd&) const { engine.proof_.end_turn(); }
    void operator()(const Shutdown& what) const { engine.shut_down(what); }
  };
  std::visit(Handler{*this}, event);
}

void Engine::begin(const Acquire& event) {
  Acquisition* const acquisition = attempts_.begin(event);
  if (acquisition == nullptr) return;
  if (enroller_.want_votes()) contacts_.mark_nodes();
  attempts_.try_again(*acquisition);
}

void Engine::cancel(const Cancel& event) {
  attempts_.cancel(event);
  observers_.stop(event.request);
}

void Engine::take(const Changed& event) {
  if (event.kind == Tracked::queue) return queue_watch_.changed(event);
  const TrackedKeys::Entry* const entry = tracking_.resources().changed(event);
  if (entry == nullptr) return;
  wait_queue_.changed(entry->first, event.node);
  inspections_.observe(observers_.changed(*entry, event.node));
}

void Engine::shut_down(const Shutdown& event) {
  if (closing_.has_begun()) return;
  closing_.begin(event.grace);
  attempts_.end_all();
  observers_.stop_all(Errc::closed);
  claims_.each([this](Claim& claim) {
    if (claim.finished) return;
    if (claim.phase == Claim::Phase::held) failures_.fail_all(claim, Errc::closed, &*claim.round);
    // Claims that are being cleaned up end too: the answer that they wait for may never come.
    const bool over = claim.phase == Claim::Phase::cleaning_up && claim.task == Claim::Task::none;
    if (claim.has_holder() || (over && claim.keys->wants_undo())) releases_.clear(claim);
  });
  names_.forget();
  closing_.keep_connections();
}

std::optional<Instant> Engine::next_deadline() const {
  Instant next = std::min(
      {wait_queue_.next_tending(), closing_.deadline(), enroller_.deadline(), reigns_.deadline()});
  if (contacts_.want_something())
    next = std::min({next, clocks_.next_reading(), names_.next_writing()});
  if (const TimerHeap::Entry* top = agenda_.timers().top()) next = std::min(next, top->at);
  for (const Link& link : nodes_) next = std::min(next, link.deadline());
  return next == never ? std::nullopt : std::optional(next);
}

void Engine::fire_due() {
  while (const TimerHeap::Entry* top = agenda_.timers().top()) {
    if (top->at > now_) return;
    const std::uint32_t key = top->key;
    agenda_.timers().set(key, std::nullopt);
    switch (TimerHeap::kind_of(key)) {
      case TimerHeap::Kind::claim:
        fire(claims_.at(TimerHeap::index_of(key)));
        break;
      case TimerHeap::Kind::acquisition:
        attempts_.fire(acquisitions_.at(TimerHeap::index_of(key)));
        break;
      case TimerHeap::Kind::observation:
        inspections_.observe(observers_.due(TimerHeap::index_of(key)));
        break;
    }
  }
}

void Engine::fire(Claim& claim) {
  if (claim.finished) return;
  switch (claim.phase) {
    case Claim::Phase::acquiring:
      // Undecided, and even a grant would come too late now.
      if (now_ >= *claim.valid_until) return attempts_.lose(claim, Errc::expired);
      break;
    case Claim::Phase::held:
      return leases_.fire(claim);
    case Claim::Phase::lost:
    case Claim::Phase::by_token:
      break;
    case Claim::Phase::cleaning_up:
      owed_releases_.fire(claim);
      break;
  }
  agenda_.retime(claim);
  agenda_.touch(claim);
}

void Engine::use_space() {
  while (Acquisition* const next = space_queue_.next()) {
    attempts_.try_again(*next);
    drain();
  }
}

void Engine::judge_touched() {
  // First the rounds that can be decided, in the order in which answers came. That may begin other
  // attempts, and wake acquisitions that wait.
  std::vector<std::uint32_t>& touched = agenda_.touched();
  std::vector<WaitQueue::Woken>& woken = wait_queue_.woken();
  while (!touched.empty() || !woken.empty()) {
    // Both lists may grow meanwhile.
    std::size_t next = 0;
    while (next < touched.size()) {
      Claim& claim = claims_.at(touched[next++]);
      claim.touched.by(me) = false;
      if (Agenda::may_be_decided(claim)) {
        judge(claim);
        finish_if_clean(claim);
      }
      if (claim.unanswered == 0) idle_leases_.note_idle(claim);
    }
    touched.clear();
    next = 0;
    while (next < woken.size()) {
      const WaitQueue::Woken one = woken[next++];
      attempts_.wake(one);
    }
    woken.clear();
  }
}

void Engine::judge(Claim& claim) {
  switch (claim.task) {
    case Claim::Task::none:
    case Claim::Task::meet_nodes:
      return;
    case Claim::Task::acquire:
      return attempts_.judge(claim);
    case Claim::Task::fence:
      return attempts_.judge_fencing(claim);
    case Claim::Task::extend:
      return leases_.judge(claim);
    case Claim::Task::release:
      return releases_.judge(claim);
    case Claim::Task::release_by_token:
      return releases_.judge_by_token(claim);
    case Claim::Task::inspect:
      return inspections_.judge(claim);
  }
}

void Engine::finish_if_clean(Claim& claim) {
  if (claim.finished || claim.phase != Claim::Phase::cleaning_up) return;
  if (claim.task != Claim::Task::none || claim.unanswered > 0) return;
  if (!claim.keys->clean()) return agenda_.retime(claim);
  if (!claim.unasked->empty()) return;
  agenda_.forget(claim);
  claims_.finish(claim);
}

void Engine::reap() {
  idle_leases_.begin_step();
  claims_.reap([this](Claim& claim) {
    if (claim.work) idle_leases_.archive(claim);
  });
  acquisitions_.reap();
}

void Engine::report_drained() {
  if (closing_.is_over()) return;
  if (closing_.must_wait(names_.forgetting(), enroller_.may_still_enrol())) return;
  closing_.end();
  claims_.each([this](Claim& claim) {
    if (!claim.finished) failures_.fail_all(claim, Errc::closed, &*claim.round);
  });
  outbox_.emit(Drained{});
}

Metrics Engine::metrics(Instant now) const {
  Metrics metrics = meter_.report(now);
  metrics.acquires_in_progress = acquisitions_.in_progress();
  metrics.leases_held = claims_.leases();
  claims_.each_pending([&](const Claim& claim) {
    claim.keys->to_release().each([&](NodeIndex node) { ++metrics.nodes[node].owed_releases; });
  });
  return metrics;
}

}  // namespace redlock::core
