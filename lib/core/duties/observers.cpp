#include "core/duties/observers.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {
namespace {

/// The pause between inspections when nodes notify us: a notification can get lost.
constexpr Duration longest_inspection_pause = std::chrono::seconds(5);
/// The pause before an inspection that may come too early: a change reaches the nodes one after the
/// other.
constexpr Duration shortest_inspection_pause = std::chrono::milliseconds(1);

/// Whether a quorum agrees on a state that lasts for more than a moment.
bool is_answered(const Round& round) {
  return round.granted().size() >= round.quorum() || round.is_anothers();
}

std::uint32_t timer_of(const Observation& observation) {
  return TimerHeap::key(TimerHeap::Kind::observation, observation.index);
}

}  // namespace

Observation* Observers::add(const Observe& event) {
  TrackedKeys::Key& key = resources_.use(event.resource).second;
  if (!key.observation) {
    Observation& observation = observations_.take();
    observation.begin(event.resource);
    key.observation = observation.index;
  }
  Observation& observation = observations_.at(*key.observation);
  observation.observers.push_back({event.request, event.poll_interval});
  if (observation.inspecting == ClaimId()) return &observation;
  // The inspection under way may be older than this call.
  observation.news = true;
  return nullptr;
}

void Observers::begin(Observation& observation, Claim& claim) {
  // Tracking is requested before the inspection: nodes notify us of later changes, and the
  // inspection sees earlier ones.
  TrackedKeys::Entry& entry = *resources_.find(observation.resource);
  resources_.ask(entry);
  entry.second.may_be_news = NodeSet();
  observation.changed = NodeSet();
  observation.news = false;
  observation.note_inspection(now_);
  for (std::size_t i = 1; i < observation.observers.size(); ++i) {
    claim.work->requests.by(me).push_back(observation.observers[i].request);
  }
  claim.work->observation.by(me) = observation.index;
  observation.inspecting = claim.id();
}

void Observers::inspected(const Claim& claim) {
  Observation& observation = observations_.at(*claim.work->observation);
  if (!observation.live || observation.inspecting != claim.id()) return;
  observation.inspecting = ClaimId();
  const Duration poll = observation.poll_interval();
  if (!is_answered(claim.round) || observation.news) {
    const unsigned doublings = std::min(observation.undecided++, 14U);
    return plan(observation,
                later(now_, std::min(shortest_inspection_pause * (1 << doublings), poll)));
  }
  observation.undecided = 0;
  const TrackedKeys::Key& key = resources_.find(observation.resource)->second;
  const bool notified = key.tracking.size() >= settings_.quorum;
  Duration pause = notified ? std::max(poll, longest_inspection_pause) : poll;
  // After the expiry: the servers count in milliseconds.
  if (const auto free_in = claim.round->free_in(); free_in && *free_in > Duration::zero())
    pause = std::min(pause, std::min(*free_in, pause) + std::chrono::milliseconds(1));
  plan(observation, later(now_, pause));
}

void Observers::plan(Observation& observation, Instant at) {
  timers_.set(timer_of(observation), std::max(at, observation.soonest()));
}

Observation* Observers::changed(const TrackedKeys::Entry& entry, std::optional<NodeIndex> node) {
  if (!entry.second.observation) return nullptr;
  Observation& observation = observations_.at(*entry.second.observation);
  observation.news = true;
  if (node) observation.changed.add(*node);
  if (observation.inspecting != ClaimId()) return nullptr;
  // At once if the key has changed on a quorum: the other nodes are about to follow.
  const bool at_once = !node || observation.changed.size() >= settings_.quorum;
  if (at_once && now_ >= observation.soonest()) return &observation;
  if (at_once) {
    plan(observation, observation.soonest());
  } else if (observation.changed.size() == 1) {
    const Duration patience = std::max(shortest_inspection_pause, 2 * nodes_.quorum_round_trip());
    plan(observation, later(now_, patience));
  }
  return nullptr;
}

Observation* Observers::changed_by_us(const Claim& claim) {
  if (observations_.size() == 0) return nullptr;
  const TrackedKeys::Entry* const entry = resources_.find(claim.resource());
  return entry != nullptr ? changed(*entry, std::nullopt) : nullptr;
}

Observation* Observers::due(std::uint32_t index) {
  Observation& observation = observations_.at(index);
  return observation.live && observation.inspecting == ClaimId() ? &observation : nullptr;
}

void Observers::stop(CallId request) {
  observations_.each([&](Observation& observation) {
    if (forget(observation, request)) fail(request, Errc::cancelled);
  });
}

void Observers::stop_all(Errc why) {
  observations_.each([&](Observation& observation) {
    while (!observation.observers.empty()) {
      const CallId request = observation.observers.front().request;
      forget(observation, request);
      fail(request, why);
    }
  });
}

bool Observers::forget(Observation& observation, CallId request) {
  const bool found = std::erase_if(observation.observers,
                                   [&](const auto& each) { return each.request == request; }) > 0;
  if (!found) return false;
  if (Claim* claim = claims_.find(observation.inspecting))
    std::erase(claim->work->requests.by(me), request);
  TrackedKeys::Key& key = resources_.find(observation.resource)->second;
  if (observation.observers.empty()) {
    timers_.set(timer_of(observation), std::nullopt);
    key.observation.reset();
  }
  resources_.stop(observation.resource);
  if (observation.observers.empty()) observations_.give_back(observation);
  return true;
}

void Observers::fail(CallId request, Errc why) {
  if (request != CallId::none) outbox_.emit(Failed{request, why});
}

}  // namespace redlock::core
