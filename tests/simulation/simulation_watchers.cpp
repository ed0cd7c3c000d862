#include <algorithm>
#include <map>

#include "simulation/simulation.hpp"

/// Clients that observe the first resource: they must see each state that lasts.
namespace redlock::simulation {
namespace {

/// The call that observes; not a caller's slot.
constexpr core::CallId watch{15};
constexpr True between_checks = 5 * ms;

}  // namespace

void Simulation::begin_watch(std::uint32_t index) {
  Client& client = clients_[index];
  client.watches = scenario_.watches;
  client.sees_it_held.reset();
  if (!client.watches) return;
  // The longest polling interval: the client never polls.
  step(index, core::Observe{watch, name_of(0), std::chrono::hours(1)});
}

bool Simulation::is_of_watch(core::CallId request) const {
  return scenario_.watches && request == watch;
}

void Simulation::sees(std::uint32_t index, const core::Round& round) {
  Client& client = clients_[index];
  if (round.granted().size() >= round.quorum()) client.sees_it_held = false;
  if (round.is_anothers()) client.sees_it_held = true;
}

/// The token that a quorum of nodes names as holder, or 0; none: the nodes are split.
std::optional<std::uint64_t> Simulation::watched_holder() {
  std::map<std::uint64_t, std::size_t> named;
  for (const ModelNode& node : servers_) ++named[node.holder(0, now_)];
  const auto most = std::max_element(
      named.begin(), named.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->second < scenario_.quorum) return std::nullopt;
  return most->first;
}

void Simulation::note_watched() {
  if (!scenario_.watches) return;
  const std::optional<std::uint64_t> holder = watched_holder();
  if (holder != watched_) watched_since_ = now_;
  watched_ = holder;
}

void Simulation::check_watchers() {
  note_watched();
  const std::optional<std::uint64_t> holder = watched_;
  const bool was_seen = now_ >= watched_since_ + scenario_.longest_unseen();
  for (std::uint32_t i = 0; i < clients_.size() && was_seen && holder; ++i) {
    const Client& client = clients_[i];
    if (client.sees_it_held == (*holder != 0)) continue;
    checker_.violated("invariant 5: client " + std::to_string(i) +
                      " watches a resource and does not see that it is " +
                      (*holder != 0 ? "held" : "free"));
  }
  if (!healed_) plan(now_ + between_checks, Kind::check_watchers, 0);
}

}  // namespace redlock::simulation
