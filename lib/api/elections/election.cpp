#include "redlock/election.hpp"

#include <utility>

#include "api/client/blocking.hpp"
#include "api/client/core_of.hpp"
#include "api/elections/electing.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

Leadership::Leadership(Lease lease) noexcept : lease_(std::move(lease)) {}

FencingToken Leadership::term() const noexcept {
  return lease_.fencing_token().value_or(FencingToken());
}

struct Election::State {
  std::shared_ptr<api::ClientCore> client;
  std::string name;
  ElectionOptions options;
};

Election::Election(Client& client, std::string name, ElectionOptions options)
    : state_(std::make_shared<const State>(
          State{api::CoreOf::client(client), std::move(name), api::adapted(std::move(options))})) {}
Election::Election(const Election&) noexcept = default;
Election& Election::operator=(const Election&) noexcept = default;
Election::~Election() = default;

Result<Leadership> Election::campaign(const std::stop_token& stop) {
  return campaign_within(forever, stop);
}

Result<Leadership> Election::try_campaign() { return campaign_within({}, {}); }

Result<Leadership> Election::campaign_within(std::chrono::nanoseconds wait,
                                             const std::stop_token& stop) {
  return api::lead_with(
      api::acquire(state_->client, state_->name, api::terms_of(state_->options), wait, stop));
}

Result<std::optional<Leader>> Election::leader() {
  return api::judge_leader(state_->name,
                           api::block<&api::Calls::inspect>(state_->client, state_->name));
}

Result<std::uint64_t> Election::observe(
    const std::function<void(const std::optional<Leader>&)>& changed, const std::stop_token& stop) {
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  api::LeaderSighting sighting;
  const auto seen = [&](const Inspection& inspection) {
    if (sighting.is_news(inspection)) changed(sighting.leader());
  };
  auto watched = api::watch(state_->client, state_->name, seen, stop,
                            {.poll_interval = state_->options.poll_interval});
  if (!watched) return std::move(watched).error();
  return sighting.changes();
}

}  // namespace redlock
