// MemberChange for MemberWish::Kind::bootstrap: a deployment is opened in two phases. Once every
// node of the list was seen to be opening, no other deployment has a vote left on any of them.

#include <algorithm>
#include <utility>

#include "core/membership/member_change.hpp"
#include "core/membership/member_change_scene.hpp"
#include "core/votes/quorum.hpp"
#include "support/counted.hpp"

namespace redlock::core {
namespace {

using std::chrono::milliseconds;

bool has_name(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_open(const ChangeScene& scene, const Deployment& deployment) {
  return deployment.active.size() == deployment.members.size() &&
         std::all_of(scene.nodes.begin(), scene.nodes.end(), [&](const ObservedNode& node) {
           return has_name(deployment.active, node.name);
         });
}

}  // namespace

/// Notes which member each node is by its marker: the list may call the servers by other names than
/// their deployment does.
void MemberChange::note_former_names(const ChangeScene& scene) {
  for (const ObservedNode& node : scene.nodes) {
    if (node.marker) former_names_.emplace(node.name, node.marker->deployment, node.marker->self);
  }
}

/// Whether an interrupted run of the same bootstrap has overwritten the node's marker, so that the
/// node may have been any member of the deployment. A bootstrap gives its deployment a generation
/// above those of all markers that it has read: an opening that is not above has not seen this one.
bool MemberChange::may_be_any_member(const ObservedNode& node, const Marker& marker) const {
  const bool is_known =
      std::any_of(former_names_.begin(), former_names_.end(), [&](const auto& former) {
        return std::get<0>(former) == node.name && std::get<1>(former) == marker.deployment;
      });
  if (is_known || !node.marker || node.marker->state != Marker::State::opening) return false;
  const Marker& opening = *node.marker;
  return opening.members == wish_.members && opening.max_ttl == wish_.max_ttl &&
         generation_of(opening.deployment) > generation_of(marker.deployment);
}

/// The number of members of the marker's deployment that no listed node is, or was by a marker that
/// this run or an interrupted one has seen.
std::size_t MemberChange::count_left_out(const ChangeScene& scene, const Marker& marker) const {
  const auto left_out = static_cast<std::size_t>(
      std::count_if(marker.members.begin(), marker.members.end(), [&](const std::string& member) {
        return std::none_of(scene.nodes.begin(), scene.nodes.end(), [&](const ObservedNode& node) {
          return node.name == member ||
                 former_names_.contains({node.name, marker.deployment, member});
        });
      }));
  const auto any = static_cast<std::size_t>(
      std::count_if(scene.nodes.begin(), scene.nodes.end(), [&](const ObservedNode& node) {
        return !has_name(marker.members, node.name) && may_be_any_member(node, marker);
      }));
  return left_out - std::min(left_out, any);
}

void MemberChange::searched(std::string held, std::string failed) {
  searched_ = true;
  held_ = std::move(held);
  search_failed_ = std::move(failed);
}

MemberStep MemberChange::search(const ChangeScene& scene) const {
  milliseconds longest = wish_.max_ttl;
  for (const ObservedNode& node : scene.nodes) {
    if (node.marker) longest = std::max(longest, node.marker->max_ttl);
  }
  return SearchLocks{longest};
}

/// The deployment is open: clients were faster than the operator, who says that the nodes were new.
/// No node that was opened as new has forgotten a vote since; each votes from now on.
MemberStep MemberChange::vouch(const ChangeScene& scene, const Deployment& deployment) {
  for (const std::string& name : deployment.members) {
    const ObservedNode& node = *find_node(scene.nodes, name);
    const bool ends = node.quarantine > milliseconds(0) && node.quarantine != milliseconds::max();
    if (!ends || node.quarantine_why != opened_as_new) continue;
    if (wish_.after_loss) {
      // The nodes are not new: the quarantine becomes the operator's, which no later run ends.
      return remembering_from_now(mark_node(scene, deployment, name, Marker::State::active,
                                            quarantine_for(deployment.max_ttl, wish_)));
    }
    if (!searched_) return search(scene);
    const std::string& why = held_.empty() ? search_failed_ : held_;
    if (!why.empty()) return ChangeDone{deployment.id, deployment.members, why, name};
    return mark_node(scene, deployment, name, Marker::State::active, milliseconds(0));
  }
  return ChangeDone{deployment.id, deployment.members, {}, {}};
}

MemberStep MemberChange::open(const ChangeScene& scene) {
  for (const ObservedNode& node : scene.nodes) {
    if (!node.problem.empty()) return await_missing(scene, node.name);
  }
  note_former_names(scene);
  if (auto refused = refuse_list(scene)) return *std::move(refused);
  for (const Deployment& deployment : scene.alive) {
    if (deployment.members == wish_.members && deployment.max_ttl == wish_.max_ttl &&
        is_open(scene, deployment)) {
      return vouch(scene, deployment);
    }
  }
  if (!searched_) return search(scene);
  if (!held_.empty()) return ChangeRefused{ChangeRefused::Reason::held, held_, {}};
  if (!search_failed_.empty()) return refuse_change(search_failed_, {});
  note_ids(scene);
  return open_as(scene, deployment_to_open(scene));
}

std::optional<MemberStep> MemberChange::refuse_list(const ChangeScene& scene) const {
  for (const ObservedNode& node : scene.nodes) {
    if (!node.marker || node.marker->state == Marker::State::blank) continue;
    if (auto refused = refuse_marker(scene, node)) return refused;
  }
  return std::nullopt;
}

std::optional<MemberStep> MemberChange::refuse_marker(const ChangeScene& scene,
                                                      const ObservedNode& node) const {
  const Marker& marker = *node.marker;
  const std::size_t left_out = count_left_out(scene, marker);
  if (left_out >= majority(marker.members.size())) {
    return refuse_change(node.name + " belongs to a deployment, and the list leaves out " +
                             std::to_string(left_out) + " of its " +
                             support::counted(marker.members.size(), "member") +
                             ", which may go on without this node: " + list_of(marker.members),
                         "Name its nodes too, or remove " + node.name +
                             " from it. If nobody uses that deployment, "
                             "delete the key redlock:node:marker of " +
                             node.name);
  }
  if (fresh_marker(node) == nullptr) return std::nullopt;
  if (marker.state == Marker::State::joining) {
    const bool lost = std::all_of(scene.all.begin(), scene.all.end(),
                                  [](const Deployment& other) { return other.active.empty(); });
    if (!lost || marker.members != wish_.members) {
      return refuse_change(node.name + " is joining a deployment", resume_by(scene));
    }
  }
  // A node that is being opened as a member of another list has no vote: it is taken over.
  return std::nullopt;
}

/// Notes whether there may be leases: from a deployment that a marker names, or because another run
/// has opened this one already.
void MemberChange::note_ids(const ChangeScene& scene) {
  had_id_ = had_id_ || wish_.after_loss;
  for (const ObservedNode& node : scene.nodes) {
    const bool blank =
        node.text.empty() || (node.marker && node.marker->state == Marker::State::blank);
    const auto known = seen_.find(node.name);
    const bool ours = known != seen_.end() && known->second == node.text;
    const bool may_be_unused =
        blank && (node.quarantine_why.empty() || node.quarantine_why == met_unmarked);
    if (!may_be_unused && !ours) had_id_ = true;
    if (node.marker) longest_ = std::max(longest_, node.marker->max_ttl);
  }
}

Deployment MemberChange::deployment_to_open(const ChangeScene& scene) const {
  Deployment target;
  std::uint64_t generation = 0;
  for (const ObservedNode& node : scene.nodes) {
    if (node.marker) generation = std::max(generation, generation_of(node.marker->deployment));
  }
  for (const Deployment& other : scene.all) {
    const bool wanted = other.members == wish_.members && other.max_ttl == wish_.max_ttl;
    if (other.opening.empty() || !wanted) continue;
    // If runs of the same wish have begun two openings, all runs choose the same one.
    const bool better = target.id.empty() || other.active.size() > target.active.size() ||
                        (other.active.size() == target.active.size() && other.id < target.id);
    if (better) target = other;
  }
  if (target.id.empty()) {
    target.id = next_id(generation, random_);
    target.members = wish_.members;
    target.max_ttl = wish_.max_ttl;
  }
  return target;
}

MemberStep MemberChange::open_as(const ChangeScene& scene, const Deployment& target) {
  // The quarantine begins with the opening, so that a run after a crash finds it: by then no marker
  // says for how long there may be leases.
  milliseconds quarantine = quarantine_for(std::max(longest_, target.max_ttl), wish_);
  for (const ObservedNode& node : scene.nodes) {
    const bool ends = node.quarantine != milliseconds::max();
    if (ends) quarantine = std::max(quarantine, node.quarantine);
  }
  for (const std::string& name : wish_.members) {
    if (!target.is_carried_by(name)) {
      WriteMarker opening = mark_node(scene, target, name, Marker::State::opening,
                                      had_id_ ? quarantine : milliseconds(-1));
      const Marker* known = fresh_marker(*find_node(scene.nodes, name));
      const bool remembers = known != nullptr && (known->state == Marker::State::active ||
                                                  known->state == Marker::State::opening);
      return had_id_ && !remembers ? remembering_from_now(std::move(opening)) : opening;
    }
  }
  under_way_ = true;
  if (!verify(scene, wish_.members)) return SurveyAgain{};
  for (const std::string& name : wish_.members) {
    if (!has_name(target.opening, name)) continue;
    // A node that this run has activated before may have forgotten a lease that was granted since.
    const bool may_have_leases = had_id_ || has_name(activated_, name);
    WriteMarker active = mark_node(scene, target, name, Marker::State::active,
                                   may_have_leases ? quarantine : milliseconds(0));
    return has_name(activated_, name) ? remembering_from_now(std::move(active)) : active;
  }
  return ChangeDone{target.id, target.members, {}, {}};
}

}  // namespace redlock::core
