// The membership as text.

#include <algorithm>
#include <string>
#include <vector>

#include "api/deployment/member_run.hpp"

namespace redlock::api {
namespace {

using core::Deployment;
using core::Marker;
using core::ObservedNode;

const Deployment* current_of(const std::vector<Deployment>& alive) {
  const auto best =
      std::max_element(alive.begin(), alive.end(), [](const Deployment& a, const Deployment& b) {
        return std::pair(a.active.size(), core::generation_of(a.id)) <
               std::pair(b.active.size(), core::generation_of(b.id));
      });
  return best == alive.end() ? nullptr : &*best;
}

admin::MemberReport::State state_of(const ObservedNode& node,
                                    const std::vector<Deployment>& alive) {
  using State = admin::MemberReport::State;
  if (!node.problem.empty()) return State::unreachable;
  const Marker* marker = core::fresh_marker(node);
  if (marker == nullptr) return State::unmarked;
  switch (marker->state) {
    case Marker::State::blank:
      return State::blank;
    case Marker::State::opening:
      return State::opening;
    case Marker::State::joining:
      return State::joining;
    case Marker::State::active:
      break;
  }
  const bool in_use = std::any_of(
      alive.begin(), alive.end(),
      [marker](const Deployment& deployment) { return deployment.id == marker->deployment; });
  return in_use ? State::member : State::removed;
}

}  // namespace

admin::Membership read_membership(const std::vector<ObservedNode>& nodes) {
  admin::Membership membership;
  const auto alive = core::without_ended(core::deployments_of(nodes));
  if (const Deployment* current = current_of(alive)) {
    membership.deployment = current->id;
    membership.members = current->members;
    membership.max_ttl = current->max_ttl;
  }
  for (const ObservedNode& node : nodes) {
    admin::MemberReport& report = membership.nodes.emplace_back();
    report.url = node.address;
    report.state = state_of(node, alive);
    report.problem = node.problem;
    report.primary = node.primary;
    if (const Marker* marker = core::fresh_marker(node)) {
      report.deployment = marker->deployment;
      report.member = marker->self;
    }
    report.quarantine = node.quarantine == std::chrono::milliseconds::max()
                            ? forever
                            : std::chrono::nanoseconds(node.quarantine);
  }
  if (const auto wish = core::change_under_way(nodes)) membership.resume = core::command_of(*wish);
  return membership;
}

}  // namespace redlock::api
