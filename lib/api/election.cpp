#include "redlock/election.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace redlock {
namespace {

bool is_passing(Errc code) {
  return code == Errc::unavailable || code == Errc::excluded || code == Errc::expired;
}

void pause(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
}

Result<Leadership> lead_with(Result<Lease> lease) {
  if (!lease) return std::move(lease).error();
  return Leadership(*std::move(lease));
}

}  // namespace

Leadership::Leadership(Lease lease) noexcept : lease_(std::move(lease)) {}

std::uint64_t Leadership::term() const noexcept { return lease_.fencing_token().value_or(0); }

Election::Election(Client& client, std::string name, ElectionOptions options)
    : client_(client), name_(std::move(name)), options_(std::move(options)) {}

AcquireOptions Election::terms() const {
  AcquireOptions options;
  options.name = options_.candidate;
  options.ttl = options_.ttl;
  options.renewal.emplace();
  options.fencing = true;
  options.on_at_risk = options_.on_at_risk;
  return options;
}

Result<Leadership> Election::campaign(const std::stop_token& stop) {
  return lead_with(client_.acquire(name_, terms(), stop));
}

Result<Leadership> Election::try_campaign() {
  return lead_with(client_.try_acquire(name_, terms()));
}

Result<Leadership> Election::try_campaign_for(std::chrono::nanoseconds wait,
                                              const std::stop_token& stop) {
  return lead_with(client_.try_acquire_for(name_, wait, terms(), stop));
}

Result<Leadership> Election::try_campaign_until(BootClock::time_point deadline,
                                                const std::stop_token& stop) {
  return lead_with(client_.try_acquire_until(name_, deadline, terms(), stop));
}

Result<std::optional<Leader>> Election::leader() {
  auto inspection = client_.inspect(name_);
  if (!inspection) return std::move(inspection).error();
  const auto silent = std::count_if(inspection->nodes.begin(), inspection->nodes.end(),
                                    [](const NodeInspection& node) { return !node.error.empty(); });
  if (inspection->state == Inspection::State::held) {
    Leader leader;
    leader.token = Token::parse(inspection->holder).value_or(Token());
    leader.candidate = leader.token.name();
    return std::optional(std::move(leader));
  }
  const std::size_t told = inspection->nodes.size() - static_cast<std::size_t>(silent);
  if (told >= inspection->quorum) return std::optional<Leader>();
  return Error{Errc::unavailable,
               "unknown who leads '" + name_ + "': " + std::to_string(told) + " of " +
                   std::to_string(inspection->nodes.size()) + " nodes answered, " +
                   std::to_string(inspection->quorum) + " needed",
               {}};
}

Result<std::uint64_t> Election::observe(
    const std::function<void(const std::optional<Leader>&)>& changed, const std::stop_token& stop) {
  if (!changed) return Error{Errc::invalid_argument, "changed: empty; a callback is needed", {}};
  std::uint64_t changes = 0;
  std::optional<Leader> last;
  while (!stop.stop_requested()) {
    auto now = leader();
    if (!now && !is_passing(now.error().code)) return std::move(now).error();
    if (now && (changes == 0 || *now != last)) {
      last = *std::move(now);
      ++changes;
      changed(last);
    }
    pause(options_.look, stop);
  }
  return changes;
}

}  // namespace redlock
