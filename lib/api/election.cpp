#include "redlock/election.hpp"

#include <algorithm>
#include <utility>

namespace redlock {
namespace {

Result<Leadership> lead_with(Result<Lease> lease) {
  if (!lease) return std::move(lease).error();
  return Leadership(*std::move(lease));
}

}  // namespace

Leadership::Leadership(Lease lease) noexcept : lease_(std::move(lease)) {}

FencingToken Leadership::term() const noexcept {
  return lease_.fencing_token().value_or(FencingToken());
}

struct Election::State {
  Client& client;
  std::string name;
  ElectionOptions options;

  [[nodiscard]] AcquireOptions terms() const {
    AcquireOptions terms;
    terms.name = options.candidate;
    terms.ttl = options.ttl;
    terms.renewal.emplace();
    terms.fencing = true;
    terms.on_at_risk = options.on_at_risk;
    return terms;
  }
};

Election::Election(Client& client, std::string name, ElectionOptions options)
    : state_(std::make_shared<const State>(State{client, std::move(name), std::move(options)})) {}
Election::Election(const Election&) noexcept = default;
Election& Election::operator=(const Election&) noexcept = default;
Election::~Election() = default;

Result<Leadership> Election::campaign(const std::stop_token& stop) {
  return lead_with(state_->client.acquire(state_->name, state_->terms(), stop));
}

Result<Leadership> Election::try_campaign() {
  return lead_with(state_->client.try_acquire(state_->name, state_->terms()));
}

Result<Leadership> Election::try_campaign_for(std::chrono::nanoseconds wait,
                                              const std::stop_token& stop) {
  return lead_with(state_->client.try_acquire_for(state_->name, wait, state_->terms(), stop));
}

Result<Leadership> Election::try_campaign_until(BootClock::time_point deadline,
                                                const std::stop_token& stop) {
  return lead_with(state_->client.try_acquire_until(state_->name, deadline, state_->terms(), stop));
}

namespace {

std::optional<Leader> leader_in(const Inspection& inspection) {
  if (inspection.state != Inspection::State::held) return std::nullopt;
  Leader leader;
  leader.token = Token::parse(inspection.holder).value_or(Token());
  // An operator broke the lock of the last one.
  if (leader.token.is_delay()) return std::nullopt;
  leader.candidate = leader.token.name();
  return leader;
}

}  // namespace

Result<std::optional<Leader>> Election::leader() {
  auto inspection = state_->client.inspect(state_->name);
  if (!inspection) return std::move(inspection).error();
  if (inspection->state != Inspection::State::indeterminate) return leader_in(*inspection);
  const auto silent = std::count_if(inspection->nodes.begin(), inspection->nodes.end(),
                                    [](const NodeInspection& node) { return !node.error.empty(); });
  const std::size_t answered = inspection->nodes.size() - static_cast<std::size_t>(silent);
  return Error{Errc::unavailable,
               "unknown who leads '" + state_->name + "': " + std::to_string(answered) + " of " +
                   std::to_string(inspection->nodes.size()) + " nodes answered, " +
                   std::to_string(inspection->quorum) + " needed",
               {}};
}

Result<std::uint64_t> Election::observe(
    const std::function<void(const std::optional<Leader>&)>& changed, const std::stop_token& stop) {
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  std::uint64_t changes = 0;
  std::optional<Leader> last;
  const auto seen = [&](const Inspection& inspection) {
    auto now = leader_in(inspection);
    if (changes > 0 && now == last) return;
    last = std::move(now);
    ++changes;
    changed(last);
  };
  auto watched = state_->client.watch(state_->name, seen, stop, {state_->options.poll_interval});
  if (!watched) return std::move(watched).error();
  return changes;
}

}  // namespace redlock
