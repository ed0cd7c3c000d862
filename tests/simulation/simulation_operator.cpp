#include <algorithm>
#include <chrono>
#include <map>

#include "core/claim/quorum.hpp"
#include "core/membership/marker.hpp"
#include "simulation/simulation.hpp"

/// The operator opens a deployment: at the beginning, and when too few nodes remember it for the
/// clients to take the others back. `bootstrap` is one step here: the models check what happens
/// between its writes.
namespace redlock::simulation {

using core::Marker;

void Simulation::open_deployment() {
  if (scenario_.restart_guard) write_markers("deployment", "opened");
}

void Simulation::write_markers(std::string_view deployment, std::string_view incarnation) {
  Marker marker;
  marker.state = Marker::State::active;
  marker.incarnation = incarnation;
  marker.deployment = deployment;
  marker.max_ttl = std::chrono::milliseconds(scenario_.longest_ttl_ms);
  marker.durable = scenario_.durable;
  for (std::size_t i = 0; i < nodes_.size(); ++i) marker.members.push_back(std::to_string(i));
  std::sort(marker.members.begin(), marker.members.end());
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    marker.run_id = run_id_of(i);
    marker.replid = replid_of(i);
    marker.self = std::to_string(i);
    const auto known = core::parse_marker(nodes_[i].marker());
    const bool forgot = !known || !is_of_process(*known, i) || known->state == Marker::State::blank;
    marker.remembers_since = opened_ == 0 ? Marker::always
                             : forgot     ? Marker::from_its_writing
                                          : known->remembers_since;
    const std::string time =
        opened_ == 0 ? "1" : std::to_string(nodes_[i].clock.local(now_) / 1000);
    nodes_[i].marker() = core::format_marker(marker) + ' ' + time;
  }
}

bool Simulation::is_of_process(const Marker& marker, std::uint32_t node) const {
  return marker.run_id == run_id_of(node) && marker.replid == replid_of(node);
}

bool Simulation::closed_for_clients() const {
  std::map<std::string, std::size_t> carriers;
  std::size_t blank = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const auto marker = core::parse_marker(nodes_[i].marker());
    if (!marker || !is_of_process(*marker, i) || marker->state == Marker::State::blank) {
      ++blank;
    } else if (marker->state == Marker::State::active) {
      ++carriers[core::deployment_text(*marker)];
    }
  }
  if (blank == nodes_.size() || carriers.empty()) return false;
  return std::all_of(carriers.begin(), carriers.end(), [&](const auto& deployment) {
    return deployment.second < core::majority(nodes_.size());
  });
}

void Simulation::operate() {
  if (!closed_for_clients()) return;
  const bool ready = std::all_of(nodes_.begin(), nodes_.end(), [&](const ModelNode& node) {
    return node.running && now_ >= std::max(node.stopped_until, node.read_only_until) &&
           !node.has_keys(now_);
  });
  if (!ready) return;
  tell("an operator opens the deployment again");
  ++opened_;
  write_markers("deployment" + std::to_string(opened_), "opened" + std::to_string(opened_));
  const auto longest = std::chrono::ceil<std::chrono::milliseconds>(quarantine());
  for (ModelNode& node : nodes_) node.quarantine(longest.count(), now_);
}

}  // namespace redlock::simulation
