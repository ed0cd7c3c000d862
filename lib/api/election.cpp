#include "redlock/election.hpp"

#include <utility>

#include "api/electing.hpp"

namespace redlock {

Leadership::Leadership(Lease lease) noexcept : lease_(std::move(lease)) {}

FencingToken Leadership::term() const noexcept {
  return lease_.fencing_token().value_or(FencingToken());
}

struct Election::State {
  Client& client;
  std::string name;
  ElectionOptions options;

  [[nodiscard]] AcquireOptions terms() const { return api::terms_of(options); }
};

Election::Election(Client& client, std::string name, ElectionOptions options)
    : state_(std::make_shared<const State>(State{client, std::move(name), std::move(options)})) {}
Election::Election(const Election&) noexcept = default;
Election& Election::operator=(const Election&) noexcept = default;
Election::~Election() = default;

Result<Leadership> Election::campaign(const std::stop_token& stop) {
  return api::lead_with(state_->client.acquire(state_->name, state_->terms(), stop));
}

Result<Leadership> Election::try_campaign() {
  return api::lead_with(state_->client.try_acquire(state_->name, state_->terms()));
}

Result<Leadership> Election::try_campaign_for(std::chrono::nanoseconds wait,
                                              const std::stop_token& stop) {
  return api::lead_with(state_->client.try_acquire_for(state_->name, wait, state_->terms(), stop));
}

Result<Leadership> Election::try_campaign_until(BootClock::time_point deadline,
                                                const std::stop_token& stop) {
  return api::lead_with(
      state_->client.try_acquire_until(state_->name, deadline, state_->terms(), stop));
}

Result<std::optional<Leader>> Election::leader() {
  return api::judge_leader(state_->name, state_->client.inspect(state_->name));
}

Result<std::uint64_t> Election::observe(
    const std::function<void(const std::optional<Leader>&)>& changed, const std::stop_token& stop) {
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  api::LeaderSighting sighting;
  const auto seen = [&](const Inspection& inspection) {
    if (sighting.is_news(inspection)) changed(sighting.leader());
  };
  auto watched = state_->client.watch(state_->name, seen, stop, {state_->options.poll_interval});
  if (!watched) return std::move(watched).error();
  return sighting.changes();
}

}  // namespace redlock
