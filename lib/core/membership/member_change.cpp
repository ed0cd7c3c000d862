#include "core/membership/member_change.hpp"

#include <algorithm>
#include <utility>

#include "core/membership/member_change_scene.hpp"
#include "core/membership/reign.hpp"
#include "core/votes/quorum.hpp"

namespace redlock::core {
namespace {

using std::chrono::milliseconds;

/// Two numbers of servers at one time would allow two majorities.
constexpr std::string_view rename_replicated =
    ". To change its sentinels or its number of servers, stop all clients, then run quorum-lock "
    "bootstrap with the new list";

ChangeRefused refuse_usage(std::string why) {
  return {ChangeRefused::Reason::wish, std::move(why), {}};
}

std::size_t count_active(const Deployment& deployment, const std::string& but) {
  return static_cast<std::size_t>(std::count_if(
      deployment.active.begin(), deployment.active.end(),
      [&](const std::string& name) { return name != but && deployment.has_member(name); }));
}

bool satisfies(const Deployment& deployment, const MemberWish& wish) {
  return (wish.entering.empty() || deployment.has_member(wish.entering)) &&
         (wish.leaving.empty() || !deployment.has_member(wish.leaving));
}

/// The deployments that the wish can have turned into `target`.
std::vector<Deployment> predecessors(const std::vector<Deployment>& all, const Deployment& target,
                                     const MemberWish& wish) {
  std::vector<Deployment> found;
  for (const Deployment& other : all) {
    if (generation_of(other.id) < generation_of(target.id) &&
        members_after(other.members, wish) == target.members) {
      found.push_back(other);
    }
  }
  return found;
}

/// The deployment that an earlier run of the same wish has begun or made. If there are two, the one
/// that members other than the entering node carry.
std::optional<Deployment> find_target(const ChangeScene& scene, const MemberWish& wish) {
  std::optional<Deployment> best;
  for (const Deployment& candidate : scene.alive) {
    if (!satisfies(candidate, wish)) continue;
    if (scene.alive.size() > 1 && predecessors(scene.all, candidate, wish).empty()) continue;
    const auto rank = [&wish](const Deployment& deployment) {
      return std::pair(count_active(deployment, wish.entering), generation_of(deployment.id));
    };
    if (!best || rank(candidate) > rank(*best)) best = candidate;
  }
  return best;
}

/// The members that neither leave nor enter by the wish.
std::vector<std::string> staying(const Deployment& deployment, const MemberWish& wish) {
  std::vector<std::string> names;
  for (const std::string& member : deployment.members) {
    if (member != wish.leaving && member != wish.entering) names.push_back(member);
  }
  return names;
}

bool has_forgotten(const Marker* marker) {
  return marker == nullptr || marker->state == Marker::State::blank;
}

/// Refuses a node whose marker has the id of the deployment, but which is not the member that its
/// marker says.
ChangeRefused refuse_place(const std::string& name, const Marker& marker,
                           const Deployment& deployment) {
  if (marker.members != deployment.members) {
    return refuse_change(name + " has a marker that names other members than the others have",
                         "Find out who wrote it; then delete its key redlock:node:marker");
  }
  return refuse_change(name +
                           " lost its place to another server of the same name, or to itself "
                           "before its data were put back",
                       "See that the name leads to one server, and wait until the clients have "
                       "taken it back, or delete its key redlock:node:marker");
}

bool is_missing(const ChangeScene& scene, const std::string& name) {
  const ObservedNode* node = find_node(scene.nodes, name);
  return node == nullptr || !node->problem.empty();
}

/// The name of a member that is the same server; none: the survey saw no such member.
std::optional<std::string> other_name(const ChangeScene& scene, const Deployment& from,
                                      const std::string& name) {
  const ObservedNode* node = find_node(scene.nodes, name);
  if (node == nullptr || node->run_id.empty()) return std::nullopt;
  for (const ObservedNode& other : scene.nodes) {
    if (other.name != name && other.run_id == node->run_id && from.has_member(other.name)) {
      return other.name;
    }
  }
  return std::nullopt;
}

}  // namespace

ChangeRefused refuse_change(std::string why, std::string remedy) {
  return {ChangeRefused::Reason::state, std::move(why), std::move(remedy)};
}

std::string resume_by(const ChangeScene& scene) {
  const auto wish = change_under_way(scene.nodes);
  return wish ? describe_unfinished(scene.nodes, *wish) : open_anew;
}

WaitFor await_missing(const ChangeScene& scene, const std::string& name) {
  const ObservedNode* node = find_node(scene.nodes, name);
  return {WaitFor::Cause::missing, name,
          node == nullptr ? std::string("was not asked") : node->problem, milliseconds(0)};
}

WriteMarker mark_node(const ChangeScene& scene, const Deployment& deployment,
                      const std::string& name, Marker::State state, milliseconds quarantine) {
  const ObservedNode& node = *find_node(scene.nodes, name);
  Marker marker;
  marker.state = state;
  marker.incarnation = scene.incarnation;
  marker.deployment = deployment.id;
  marker.run_id = node.run_id;
  marker.replid = node.memory.history;
  marker.max_ttl = deployment.max_ttl;
  marker.durable = node.durable;
  marker.self = name;
  marker.members = deployment.members;
  marker.admissions = deployment.admissions;
  if (const Marker* known = fresh_marker(node)) marker.remembers_since = known->remembers_since;
  if (state == Marker::State::opening) {
    // The other nodes' admissions are known when the node is activated.
    marker.admissions.clear();
    set_admission(marker, name, next_admission(first_admission, scene.incarnation));
  }
  return {name, node.text, std::move(marker), quarantine};
}

WriteMarker remembering_from_now(WriteMarker write) {
  write.marker.remembers_since = Marker::from_its_writing;
  return write;
}

MemberChange::MemberChange(MemberWish wish, std::string random)
    : wish_(std::move(wish)), random_(std::move(random)) {}

void MemberChange::wrote(const std::string& node, std::string text) {
  under_way_ = true;
  if (const auto marker = parse_marker(text); marker && marker->state == Marker::State::active) {
    activated_.push_back(node);
  }
  seen_[node] = std::move(text);
}

MemberStep MemberChange::next(const std::vector<ObservedNode>& nodes, std::string incarnation) {
  std::vector<std::string> wanted = unseen_members(nodes);
  const bool opens = wish_.kind == MemberWish::Kind::bootstrap;
  if (opens) wanted.clear();
  const auto want = [&](const std::string& name) {
    const bool known = name.empty() || find_node(nodes, name) != nullptr;
    if (!known && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
      wanted.push_back(name);
    }
  };
  want(wish_.leaving);
  want(wish_.entering);
  // Without bootstrap, `wish_.members` are only the nodes to begin with, which may be members by
  // other names.
  if (opens || nodes.empty()) std::for_each(wish_.members.begin(), wish_.members.end(), want);
  if (!wanted.empty()) return SurveyAgain{std::move(wanted)};

  ChangeScene scene{nodes, std::move(incarnation), deployments_of(nodes), {}};
  scene.alive = without_ended(scene.all);
  return opens ? open(scene) : change(scene);
}

MemberStep MemberChange::change(const ChangeScene& scene) {
  if (auto refused = refuse_other_name(scene)) return *std::move(refused);
  if (const auto target = find_target(scene, wish_)) return go_on(scene, *target);
  return begin(scene);
}

/// No node carries the deployment that the wish makes: the first compare-and-set, as soon as it is
/// allowed.
MemberStep MemberChange::begin(const ChangeScene& scene) {
  if (scene.alive.empty()) {
    for (const ObservedNode& node : scene.nodes) {
      if (!node.problem.empty()) return await_missing(scene, node.name);
    }
    return refuse_change("none of the nodes belongs to a deployment", open_anew);
  }
  for (const Deployment& other : scene.alive) {
    const bool foreign =
        other.is_carried_by(wish_.entering) &&
        std::none_of(scene.alive.begin(), scene.alive.end(), [&](const Deployment& mine) {
          return mine.id != other.id && members_after(mine.members, wish_) == other.members;
        });
    if (foreign && scene.alive.size() > 1) {
      return refuse_change(
          wish_.entering + " belongs to another deployment",
          "Remove it there first, or delete its key redlock:node:marker once nobody "
          "uses that deployment");
    }
  }
  if (change_under_way(scene.nodes)) {
    return refuse_change("another change is under way", resume_by(scene));
  }
  const Deployment& from = scene.alive.front();
  if (auto refused = refuse_wish(scene, from)) return *std::move(refused);
  if (auto waiting = await_calm(scene, from)) return *std::move(waiting);

  Deployment target;
  target.id = next_id(generation_of(from.id), random_);
  target.members = members_after(from.members, wish_);
  target.max_ttl = from.max_ttl;
  Marker list = target.list();
  raise_admissions(list, from.list());
  if (!wish_.entering.empty()) {
    set_admission(list, wish_.entering, next_admission(first_admission, random_));
  }
  target.admissions = std::move(list.admissions);
  if (auto entering = enter(scene, target)) return *std::move(entering);
  return mark_node(scene, target, target.members.front(), Marker::State::active, milliseconds(-1));
}

/// Refuses another name for the member that is to leave: it would look as if the member had left.
std::optional<MemberStep> MemberChange::refuse_other_name(const ChangeScene& scene) const {
  std::optional<std::string> member;
  for (const Deployment& deployment : scene.all) {
    if (deployment.has_member(wish_.leaving)) return std::nullopt;
    if (!member) member = other_name(scene, deployment, wish_.leaving);
  }
  if (!member) return std::nullopt;
  return refuse_usage(wish_.leaving + " is the member " + *member + ": name it so");
}

std::optional<MemberStep> MemberChange::refuse_wish(const ChangeScene& scene,
                                                    const Deployment& from) const {
  const std::string members = list_of(from.members);
  if (!wish_.leaving.empty() && !from.has_member(wish_.leaving)) {
    return refuse_usage(wish_.leaving + " is not a member; the members are " + members);
  }
  if (!wish_.entering.empty() && from.has_member(wish_.entering)) {
    return refuse_usage(wish_.entering + " is a member already; the members are " + members);
  }
  if (const auto other = other_name(scene, from, wish_.entering)) {
    const bool replicated = servers_of(wish_.entering) > 1 || servers_of(*other) > 1;
    return refuse_usage(wish_.entering + " and the member " + *other + " are the same server" +
                        (replicated ? std::string(rename_replicated) : std::string()));
  }
  if (staying(from, wish_).empty()) {
    return refuse_usage(wish_.kind == MemberWish::Kind::remove
                            ? wish_.leaving + " is the only member"
                            : wish_.leaving + " is the only member: add " + wish_.entering +
                                  " first, then remove " + wish_.leaving);
  }
  if (members_after(from.members, wish_).size() > limits::nodes) {
    return refuse_usage("the deployment has " + std::to_string(limits::nodes) +
                        " members already, which is the most");
  }
  return std::nullopt;
}

/// A change begins only after every lease from before the last change has ended, and if every other
/// member has its vote.
std::optional<MemberStep> MemberChange::await_calm(const ChangeScene& scene,
                                                   const Deployment& from) {
  for (const std::string& name : staying(from, wish_)) {
    if (auto waiting = await_member(scene, from, name)) return waiting;
  }
  return await_age(scene, from);
}

std::optional<MemberStep> MemberChange::await_member(const ChangeScene& scene,
                                                     const Deployment& from,
                                                     const std::string& name) {
  if (is_missing(scene, name)) return await_missing(scene, name);
  const ObservedNode& node = *find_node(scene.nodes, name);
  const Marker* marker = valid_marker(node);
  const bool left_behind =
      marker != nullptr && marker->state == Marker::State::opening && marker->deployment == from.id;
  if (has_forgotten(marker) || left_behind) {
    if (count_active(from, name) >= majority(from.members.size())) {
      return take_back(scene, from, name);
    }
    return refuse_change(
        name + " has forgotten that it is a member, and too few others vouch for it", open_anew);
  }
  if (marker->deployment != from.id || marker->state != Marker::State::active) {
    return refuse_change("another change is under way on " + name, resume_by(scene));
  }
  if (!from.admits(*marker)) return refuse_place(name, *marker, from);
  if (node.quarantine == milliseconds::max()) {
    return refuse_change(name + " is in a quarantine whose end is missing",
                         "Delete its key redlock:node:quarantine once no lock can still be held");
  }
  if (node.quarantine > milliseconds(0)) {
    return WaitFor{WaitFor::Cause::quarantine, name, "it is in quarantine", node.quarantine};
  }
  return std::nullopt;
}

std::optional<MemberStep> MemberChange::await_age(const ChangeScene& scene,
                                                  const Deployment& from) const {
  const milliseconds required = quarantine_for(from.max_ttl, wish_);
  std::optional<WaitFor> longest;
  for (const std::string& name : from.active) {
    const ObservedNode& node = *find_node(scene.nodes, name);
    if (!from.has_member(name)) continue;
    const auto written_at = node.marker->written_at;
    // A clock that was set back says nothing about the age.
    const auto age = std::chrono::floor<milliseconds>(
        std::max(node.clock - written_at, std::chrono::microseconds(0)));
    if (age > required) continue;
    const milliseconds left = required - age + milliseconds(1);
    if (!longest || left > longest->left) {
      longest = WaitFor{WaitFor::Cause::age, name,
                        "leases from before the last change of its membership may be left", left};
    }
  }
  if (!longest) return std::nullopt;
  return *longest;
}

/// At least one node carries the deployment that the wish makes.
MemberStep MemberChange::go_on(const ChangeScene& scene, const Deployment& begun) {
  Deployment target = begun;
  // A node may have been taken back under the old id: `target` may lack its admission.
  join_admissions(target, scene.nodes, predecessors(scene.all, target, wish_));
  const auto others = staying(target, wish_);
  const auto& active = target.active;
  if (!wish_.entering.empty() &&
      std::find(active.begin(), active.end(), wish_.entering) != active.end()) {
    return finish(scene, target);
  }
  under_way_ = true;
  const bool passing = count_active(target, wish_.entering) > 0;
  if (!passing) {
    const auto before = predecessors(scene.all, target, wish_);
    if (before.empty()) {
      for (const std::string& name : others) {
        if (is_missing(scene, name)) return await_missing(scene, name);
      }
      return refuse_change("no other member knows the deployment", open_anew);
    }
    if (auto waiting = await_calm(scene, before.front())) return *std::move(waiting);
  }
  if (auto entering = enter(scene, target)) {
    const bool is_write = std::holds_alternative<WriteMarker>(*entering);
    // A node that dies while it enters can be replaced once the others have the new id.
    if (is_write || !passing) return *std::move(entering);
  }
  if (auto step = pass(scene, target)) return *std::move(step);
  if (!verify(scene, others)) return SurveyAgain{};
  if (wish_.entering.empty()) return ChangeDone{target.id, target.members, {}, {}};
  if (is_missing(scene, wish_.entering)) return await_missing(scene, wish_.entering);
  return remembering_from_now(mark_node(scene, target, wish_.entering, Marker::State::active,
                                        quarantine_for(target.max_ttl, wish_)));
}

/// The entering node votes already, although some of the others may lack the new id: if it lost its
/// marker while it was joining, a majority of them adopts it.
MemberStep MemberChange::finish(const ChangeScene& scene, const Deployment& target) {
  auto step = pass(scene, target);
  const auto* wait = step ? std::get_if<WaitFor>(&*step) : nullptr;
  if (step && wait == nullptr) return *std::move(step);
  return ChangeDone{target.id, target.members, {}, {}};
}

/// The entering node joins: it has no vote before all others have the new id.
std::optional<MemberStep> MemberChange::enter(const ChangeScene& scene,
                                              const Deployment& target) const {
  if (wish_.entering.empty()) return std::nullopt;
  if (is_missing(scene, wish_.entering)) return await_missing(scene, wish_.entering);
  const Marker* marker = valid_marker(*find_node(scene.nodes, wish_.entering));
  const bool blank = marker == nullptr || marker->state == Marker::State::blank;
  if (!blank && marker->deployment == target.id) return std::nullopt;
  if (!blank && marker->members != target.members) {
    const auto& alive = scene.alive;
    const bool in_use = std::any_of(alive.begin(), alive.end(), [marker](const Deployment& other) {
      return other.id == marker->deployment;
    });
    if (in_use) {
      return refuse_change(wish_.entering + " belongs to another deployment", resume_by(scene));
    }
  }
  return mark_node(scene, target, wish_.entering, Marker::State::joining, milliseconds(-1));
}

/// Gives the other members the new id, in sorted order, so that of two changes that begin at once
/// one goes on. Members that forgot come last.
std::optional<MemberStep> MemberChange::pass(const ChangeScene& scene, const Deployment& target) {
  const auto before = predecessors(scene.all, target, wish_);
  std::vector<std::string> forgot;
  for (const std::string& name : staying(target, wish_)) {
    if (is_missing(scene, name)) return await_missing(scene, name);
    const Marker* marker = valid_marker(*find_node(scene.nodes, name));
    if (has_forgotten(marker)) {
      forgot.push_back(name);
      continue;
    }
    const bool has_id = marker->deployment == target.id;
    const bool expected =
        has_id || std::any_of(before.begin(), before.end(), [marker](const Deployment& other) {
          return other.id == marker->deployment;
        });
    if (!expected || marker->state != Marker::State::active) {
      return refuse_change("another change is under way on " + name, resume_by(scene));
    }
    const bool has_place = own_admission(*marker) == admission_of(target.list(), name);
    if (!has_place || (has_id && !target.admits(*marker))) {
      return refuse_place(name, *marker, target);
    }
    if (has_id && marker->admissions == target.admissions) continue;
    return mark_node(scene, target, name, Marker::State::active, milliseconds(-1));
  }
  if (!forgot.empty()) return take_back(scene, target, forgot.front());
  return std::nullopt;
}

/// The member comes back under a new admission, which the others are given first.
MemberStep MemberChange::take_back(const ChangeScene& scene, const Deployment& deployment,
                                   const std::string& name) {
  const Marker* marker = valid_marker(*find_node(scene.nodes, name));
  const milliseconds quarantine = quarantine_for(deployment.max_ttl, wish_);
  if (marker == nullptr) {
    // All clients draw the same admission from its blank marker.
    return mark_node(scene, {{}, {}, {}, deployment.max_ttl, {}, {}, {}}, name,
                     Marker::State::blank, quarantine);
  }
  Deployment target = deployment;
  Marker list = target.list();
  set_admission(list, name, admission_for(*marker, list, name));
  target.admissions = std::move(list.admissions);
  std::vector<std::string> others;
  for (const std::string& other : deployment.active) {
    if (other != name && deployment.has_member(other)) others.push_back(other);
  }
  for (const std::string& other : others) {
    if (valid_marker(*find_node(scene.nodes, other))->admissions == target.admissions) continue;
    return mark_node(scene, target, other, Marker::State::active, milliseconds(-1));
  }
  if (!verify(scene, others)) return SurveyAgain{};
  return remembering_from_now(mark_node(scene, target, name, Marker::State::active, quarantine));
}

/// Whether there was an instant at which all of these nodes carried the new id: each still keeps
/// what it kept before this survey began, and no marker is ever written twice. A node may have lost
/// the new id since, and the others may have given it the old one again.
bool MemberChange::verify(const ChangeScene& scene, const std::vector<std::string>& names) {
  bool same = true;
  for (const std::string& name : names) {
    const std::string& text = find_node(scene.nodes, name)->text;
    std::string& known = seen_[name];
    same = same && known == text;
    known = text;
  }
  return same;
}

}  // namespace redlock::core
