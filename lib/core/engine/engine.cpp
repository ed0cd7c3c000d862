#include "core/engine/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "core/votes/validity.hpp"
#include "support/assert.hpp"

namespace redlock::core {
namespace {

/// Events that are handled before overdue work. A lease that its holder gives up is not reported as
/// lost, even if its deadline has passed. Nothing may be sent to a node that is down.
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
  if (!for_space_.empty()) use_space();
  enroller_.end_step();
  tracking_.end_step();
  if (closing_.has_begun()) report_drained();
  outbox_.close();
}

void Engine::handle(const Event& event) {
  std::visit([this](const auto& what) { on(what); }, event);
}

std::optional<Instant> Engine::next_deadline() const {
  Instant next = std::min({wait_queue_.next_tending(), closing_.deadline(), enroller_.deadline()});
  if (wants_something()) next = std::min({next, clocks_.next_reading(), names_.next_writing()});
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
        fire(acquisitions_.at(TimerHeap::index_of(key)));
        break;
      case TimerHeap::Kind::observation:
        inspect(observers_.due(TimerHeap::index_of(key)));
        break;
    }
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
      claim.touched = false;
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
      Acquisition& acquisition = acquisitions_.at(one.acquisition);
      if (acquisition.state != Acquisition::State::backing_off) continue;
      if (one.checks_only) {
        wait_queue_.plan_check(acquisition);
        set_wake_up(acquisition);
        continue;
      }
      plan_next_try(acquisition, one.at_latest);
      if (one.at_once && acquisition.waiting.plan.next_try <= now_) fire(acquisition);
    }
    woken.clear();
  }
}

void Engine::on(const Subscribed& event) { wait_queue_.subscribed(event.node); }

void Engine::on(const Notification& event) { wait_queue_.notified(event); }

void Engine::on(const Changed& event) {
  if (event.kind == Tracked::queue) return queue_watch_.changed(event);
  const TrackedKeys::Entry* const entry = tracking_.resources().changed(event);
  if (entry == nullptr) return;
  wait_queue_.changed(entry->first, event.node);
  inspect(observers_.changed(*entry, event.node));
}

void Engine::take_tracked(const Answer& answer) {
  const bool of_queue = answer.stamp.tracked() == Tracked::queue;
  if (of_queue) return queue_watch_.answered(answer);
  const auto [entry, is_news] = tracking_.resources().answered(answer);
  if (entry == nullptr) return;
  wait_queue_.tracked(entry->first, answer.node, answer.reply == Reply::gone);
  if (is_news) inspect(observers_.changed(*entry, answer.node));
}

void Engine::on(const WatchQueue& event) {
  Claim* const claim = claims_.find(event.claim);
  if (claim != nullptr && claim->phase == Claim::Phase::held) queue_watch_.begin(*claim);
}

void Engine::on(const Unsubscribed& event) { wait_queue_.unsubscribed(event.node); }

void Engine::reap() {
  idle_leases_.begin_step();
  claims_.reap([this](Claim& claim) {
    if (claim.work) idle_leases_.archive(claim);
  });
  acquisitions_.reap();
}

void Engine::fail(CallId request, Errc code, const Round* round) {
  if (request == CallId::none) return;
  outbox_.emit(Failed{
      request, code, round, round != nullptr ? now_ - round->start() : Duration::zero(), {}, 0});
}

void Engine::fail_requests(Claim& claim, Errc code, const Round* round) {
  if (!claim.work) return;
  for (const CallId request : claim.work->requests) fail(request, code, round);
  claim.work->requests.clear();
  for (const Claim::QueuedExtend& queued : claim.work->queued) fail(queued.request, code, nullptr);
  claim.work->queued.clear();
  for (const CallId request : claim.work->downgrades) fail(request, code, nullptr);
  claim.work->downgrades.clear();
}

void Engine::on(const TimePassed&) { tend_links(); }

void Engine::on(const TurnEnd&) { proof_.end_turn(); }

void Engine::on(const Shutdown& shutdown) {
  if (closing_.has_begun()) return;
  closing_.begin(shutdown.grace);
  acquisitions_.each([this](Acquisition& acquisition) {
    if (acquisition.state == Acquisition::State::over) return;
    if (acquisition.state == Acquisition::State::in_round) {
      clear(*claims_.find(acquisition.claim));
    }
    finish(acquisition, Errc::closed);
  });
  observers_.stop_all(Errc::closed);
  claims_.each([this](Claim& claim) {
    if (claim.finished) return;
    if (claim.phase == Claim::Phase::held) fail_requests(claim, Errc::closed, &claim.round);
    // Claims that are being cleaned up end too: the answer that they wait for may never come.
    const bool over = claim.phase == Claim::Phase::cleaning_up && claim.task == Claim::Task::none;
    if (claim.has_holder() || (over && claim.keys.wants_undo())) clear(claim);
  });
  names_.forget();
  closing_.keep_connections();
}

void Engine::report_drained() {
  if (closing_.is_over()) return;
  if (closing_.must_wait(names_.forgetting(), enroller_.may_still_enrol())) return;
  closing_.end();
  claims_.each([this](Claim& claim) {
    if (!claim.finished) fail_requests(claim, Errc::closed, &claim.round);
  });
  outbox_.emit(Drained{});
}

Metrics Engine::metrics(Instant now) const {
  Metrics metrics = meter_.report(now);
  metrics.acquires_in_progress = acquisitions_.in_progress();
  metrics.leases_held = claims_.leases();
  claims_.each_pending([&](const Claim& claim) {
    claim.keys.to_release().each([&](NodeIndex node) { ++metrics.nodes[node].owed_releases; });
  });
  return metrics;
}

}  // namespace redlock::core
