#include "redlock/async_election.hpp"

#include <utility>

#include "api/client/async_calls.hpp"
#include "api/elections/electing.hpp"
#include "api/leases/lease_cell.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

template class Awaitable<Leadership>;
template class Awaitable<std::optional<Leader>>;

namespace {

using LeadershipDone = Callback<void(Result<Leadership>)>;
using LeaderDone = Callback<void(Result<std::optional<Leader>>)>;

}  // namespace

struct AsyncElection::State {
  api::Core core;
  std::string name;
  ElectionOptions options;

  [[nodiscard]] RequestId campaign(std::chrono::nanoseconds wait, LeadershipDone done) const {
    api::AcquireDone elected;
    if (done) {
      elected = [done = std::move(done)](Result<Lease> lease) mutable {
        done(api::lead_with(std::move(lease)));
      };
    }
    return api::acquire(core, name, api::terms_of(options), wait, std::move(elected));
  }

  void leader(LeaderDone done) const {
    api::InspectDone judged =
        [name = name, done = std::move(done)](const Result<Inspection>& inspection) mutable {
          if (done) done(api::judge_leader(name, inspection));
        };
    api::call<&api::Calls::inspect>(core, std::move(judged), name);
  }
};

AsyncElection::AsyncElection(AsyncClient& client, std::string name, ElectionOptions options)
    : state_(std::make_shared<const State>(
          State{api::CoreOf::client(client), std::move(name), api::adapted(std::move(options))})) {}
AsyncElection::AsyncElection(const AsyncElection&) noexcept = default;
AsyncElection& AsyncElection::operator=(const AsyncElection&) noexcept = default;
AsyncElection::~AsyncElection() = default;

RequestId AsyncElection::campaign(LeadershipDone done) {
  return state_->campaign(forever, std::move(done));
}

RequestId AsyncElection::try_campaign(LeadershipDone done) {
  return state_->campaign(std::chrono::nanoseconds::zero(), std::move(done));
}

RequestId AsyncElection::campaign_within(std::chrono::nanoseconds wait, LeadershipDone done) {
  return state_->campaign(wait, std::move(done));
}

void AsyncElection::resign(Leadership leadership, Callback<void(Result<Round>)> done) {
  api::release(state_->core, api::LeaseCell::of(leadership.lease()), std::move(done));
}

void AsyncElection::leader(LeaderDone done) { state_->leader(std::move(done)); }

RequestId AsyncElection::observe(LeaderDone changed) {
  return api::watch(state_->core, state_->name, {.poll_interval = state_->options.poll_interval},
                    [sighting = api::LeaderSighting(),
                     changed = std::move(changed)](const Result<Inspection>& seen) mutable {
                      if (!changed) return;
                      if (!seen) return changed(seen.error());
                      if (sighting.is_news(*seen)) changed(sighting.leader());
                    });
}

Awaitable<Leadership> AsyncElection::campaign(std::stop_token stop) {
  return try_campaign_for(forever, std::move(stop));
}

Awaitable<Leadership> AsyncElection::try_campaign() {
  return try_campaign_for(std::chrono::nanoseconds::zero());
}

Awaitable<Leadership> AsyncElection::campaign_within(std::function<std::chrono::nanoseconds()> wait,
                                                     std::stop_token stop) {
  return api::to_await<Leadership>(
      state_->core,
      [state = state_, wait = std::move(wait)](LeadershipDone done) {
        return state->campaign(wait(), std::move(done));
      },
      std::move(stop));
}

Awaitable<Round> AsyncElection::resign(Leadership leadership) {
  // Shared only because std::function wants to be copied.
  const auto held = std::make_shared<Leadership>(std::move(leadership));
  return api::to_await<Round>([core = state_->core, held](api::RoundDone done) {
    api::release(core, api::LeaseCell::of(held->lease()), std::move(done));
  });
}

Awaitable<std::optional<Leader>> AsyncElection::leader() {
  return api::to_await<std::optional<Leader>>(
      [state = state_](LeaderDone done) { state->leader(std::move(done)); });
}

Awaitable<std::uint64_t> AsyncElection::observe(
    std::function<void(const std::optional<Leader>&)> changed, std::stop_token stop) {
  std::function<bool(const Inspection&)> see;
  if (changed) {
    see = [sighting = api::LeaderSighting(),
           changed = std::move(changed)](const Inspection& inspection) mutable {
      const bool is_news = sighting.is_news(inspection);
      if (is_news) changed(sighting.leader());
      return is_news;
    };
  }
  return api::to_await_watch(state_->core, state_->name,
                             {.poll_interval = state_->options.poll_interval}, std::move(see),
                             std::move(stop));
}

void AsyncElection::cancel(RequestId request) { api::cancel(state_->core, request); }

}  // namespace redlock
