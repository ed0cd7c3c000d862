#include <algorithm>
#include <chrono>

#include "core/engine.hpp"

/// Keys whose changes somebody wants to know of: observers of a resource, callers that wait for a
/// lock of another library, and holders that other clients wait for.
namespace redlock::core {
namespace {

/// An observer that nodes notify inspects all the same: a notification may get lost.
constexpr Duration longest_inspection_pause = std::chrono::seconds(5);
/// A change reaches the nodes one after the other.
constexpr Duration shortest_inspection_pause = std::chrono::milliseconds(1);

/// Whether a quorum agrees, and not on a state that is over in a moment.
bool is_settled(const Round& round) {
  return round.granted().size() >= round.quorum() || round.is_anothers();
}

}  // namespace

void Engine::take_tracked(const Answer& answer) {
  const bool of_queue = answer.stamp.round == static_cast<std::uint16_t>(Tracked::queue);
  TrackedKeys& keys = of_queue ? tracked_queues_ : tracked_resources_;
  const auto [entry, is_news] = keys.answered(answer);
  if (entry == nullptr) return;
  if (of_queue) return report_queue(*entry);
  wait_queue_.tracked(entry->first, answer.node, answer.reply == Reply::gone);
  if (!is_news) return;
  note_changed(*entry, answer.node);
}

void Engine::note_sent(const Claim& claim, Verb verb, NodeSet nodes) {
  if (!tracked_queues_.empty() && claim.place_in(verb) != nullptr) {
    tracked_queues_.may_be_written(claim.resource(), nodes);
  }
  if (tracked_resources_.empty() || !(is_write(verb) || is_taking_script(verb))) return;
  tracked_resources_.may_be_written(claim.resource(), nodes);
  for (const std::string& more : claim.terms().more_resources) {
    tracked_resources_.may_be_written(more, nodes);
  }
}

void Engine::note_seen(const Claim& claim, const Answer& answer) {
  const bool tells = answer.stamp.verb == Verb::inspect &&
                     (answer.reply == Reply::found || answer.reply == Reply::gone);
  if (tells) {
    tracked_resources_.seen(claim.resource(), answer.node, answer.reply == Reply::found);
  }
}

void Engine::on(const Changed& event) {
  if (event.kind == Tracked::queue) {
    TrackedKeys::Entry* const entry = tracked_queues_.changed(event);
    if (entry == nullptr) return;
    // A client came or left. Until the node has answered, one counts as waiting.
    entry->second.present.add(event.node);
    report_queue(*entry);
    return tracked_queues_.ask(*entry);
  }
  TrackedKeys::Entry* const entry = tracked_resources_.changed(event);
  if (entry == nullptr) return;
  wait_queue_.changed(entry->first, event.node);
  note_changed(*entry, event.node);
}

// --- observers of a resource ------------------------------------------------------------------

void Engine::on(const Observe& event) {
  if (closing_.has_begun()) return fail(event.request, Errc::closed, nullptr);
  TrackedKeys::Key& key = tracked_resources_.use(event.resource).second;
  if (!key.observation) {
    Observation& observation = observations_.take();
    observation.begin(event.resource);
    key.observation = observation.index;
  }
  Observation& observation = observations_.at(*key.observation);
  observation.observers.push_back({event.request, event.poll_interval});
  // The inspection under way may be older than this call.
  if (observation.inspecting != ClaimId()) {
    observation.news = true;
  } else {
    begin_inspection(observation);
  }
}

void Engine::begin_inspection(Observation& observation) {
  // First: what changes behind it is notified of, what changed ahead of it is seen.
  TrackedKeys::Entry& entry = *tracked_resources_.find(observation.resource);
  tracked_resources_.ask(entry);
  entry.second.may_be_news = NodeSet();
  observation.changed = NodeSet();
  observation.news = false;
  observation.note_inspection(now_);
  Claim& claim = new_claim_by_token(Claim::Purpose::inspect, observation.observers.front().request,
                                    observation.resource, Token(), Duration::zero());
  for (std::size_t i = 1; i < observation.observers.size(); ++i) {
    claim.work->requests.push_back(observation.observers[i].request);
  }
  claim.work->observation = observation.index;
  observation.inspecting = claim.id();
  begin_when_known(claim);
}

void Engine::note_inspected(const Claim& claim) {
  Observation& observation = observations_.at(*claim.work->observation);
  if (!observation.live || observation.inspecting != claim.id()) return;
  observation.inspecting = ClaimId();
  const Duration poll = observation.poll_interval();
  if (!is_settled(claim.round) || observation.news) {
    const unsigned doublings = std::min(observation.unsettled++, 14U);
    return plan_inspection(
        observation, later(now_, std::min(shortest_inspection_pause * (1 << doublings), poll)));
  }
  observation.unsettled = 0;
  const TrackedKeys::Key& key = tracked_resources_.find(observation.resource)->second;
  const bool notified = key.tracking.size() >= settings_.quorum;
  Duration pause = notified ? std::max(poll, longest_inspection_pause) : poll;
  // Behind the expiry: the servers count in milliseconds.
  if (const auto free_in = claim.round.free_in(); free_in && *free_in > Duration::zero())
    pause = std::min(pause, std::min(*free_in, pause) + std::chrono::milliseconds(1));
  plan_inspection(observation, later(now_, pause));
}

void Engine::plan_inspection(Observation& observation, Instant at) {
  timers_.set(timer_of(observation), std::max(at, observation.soonest()));
}

void Engine::note_changed(const TrackedKeys::Entry& entry, std::optional<NodeIndex> node) {
  if (!entry.second.observation) return;
  Observation& observation = observations_.at(*entry.second.observation);
  observation.news = true;
  if (node) observation.changed.add(*node);
  if (observation.inspecting != ClaimId()) return;
  // A quorum has changed, and the others are about to.
  const bool at_once = !node || observation.changed.size() >= settings_.quorum;
  if (at_once && now_ >= observation.soonest()) return begin_inspection(observation);
  if (at_once) return plan_inspection(observation, observation.soonest());
  const Duration patience = std::max(shortest_inspection_pause, 2 * nodes_.quorum_round_trip());
  if (observation.changed.size() == 1) plan_inspection(observation, later(now_, patience));
}

void Engine::note_own_change(const Claim& claim) {
  if (observations_.size() == 0) return;
  const TrackedKeys::Entry* const entry = tracked_resources_.find(claim.resource());
  if (entry != nullptr) note_changed(*entry, std::nullopt);
}

void Engine::fire(Observation& observation) {
  if (observation.live && observation.inspecting == ClaimId()) begin_inspection(observation);
}

void Engine::end(Observation& observation, Errc why) {
  while (!observation.observers.empty()) {
    const CallId request = observation.observers.front().request;
    forget_observer(observation, request);
    fail(request, why, nullptr);
  }
}

void Engine::stop(Observation& observation, CallId request) {
  if (forget_observer(observation, request)) fail(request, Errc::cancelled, nullptr);
}

bool Engine::forget_observer(Observation& observation, CallId request) {
  const bool found = std::erase_if(observation.observers,
                                   [&](const auto& each) { return each.request == request; }) > 0;
  if (!found) return false;
  if (Claim* claim = claims_.find(observation.inspecting.index, observation.inspecting.generation))
    std::erase(claim->work->requests, request);
  TrackedKeys::Key& key = tracked_resources_.find(observation.resource)->second;
  if (observation.observers.empty()) {
    timers_.set(timer_of(observation), std::nullopt);
    key.observation.reset();
  }
  tracked_resources_.stop(observation.resource);
  if (observation.observers.empty()) observations_.give_back(observation);
  return true;
}

// --- the queue behind a lease -----------------------------------------------------------------

void Engine::on(const WatchQueue& event) {
  Claim* const claim = claims_.find(event.claim.index, event.claim.generation);
  if (claim == nullptr || claim->phase != Claim::Phase::held) return;
  if (claim->watches_queue) return;
  claim->watches_queue = true;
  TrackedKeys::Entry& entry = tracked_queues_.use(claim->resource());
  entry.second.lease = claim->id();
  entry.second.others = OtherClients::unknown;
  report_queue(entry);
}

void Engine::report_queue(TrackedKeys::Entry& entry) {
  TrackedKeys::Key& key = entry.second;
  OtherClients others = OtherClients::unknown;
  if (key.tracking.size() >= settings_.quorum) others = OtherClients::none;
  // A node does not notify us of what we queue ourselves.
  if (!key.present.empty() || wait_queue_.has_waiters(entry.first)) others = OtherClients::waiting;
  if (others == OtherClients::waiting) wait_queue_.note_contended(entry.first);
  if (others == key.others) return;
  key.others = others;
  outbox_.emit(QueueWatched{key.lease, others});
}

void Engine::stop_watching_queue(Claim& claim) {
  if (!claim.watches_queue) return;
  claim.watches_queue = false;
  tracked_queues_.stop(claim.resource());
}

}  // namespace redlock::core
