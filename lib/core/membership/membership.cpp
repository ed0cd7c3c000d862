#include "core/membership/membership.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/votes/quorum.hpp"
#include "core/votes/validity.hpp"
#include "support/shell_word.hpp"

namespace redlock::core {
namespace {

using std::chrono::milliseconds;

bool contains(const std::vector<std::string>& names, std::string_view name) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// Whether a member of both carries `deployment`.
bool shared_member_carries(const Deployment& deployment, const Deployment& other) {
  return std::any_of(deployment.members.begin(), deployment.members.end(),
                     [&](const std::string& member) {
                       return other.has_member(member) && deployment.is_carried_by(member);
                     });
}

/// Whether `other` has ended `deployment`. An id that a joining node carries can be the beginning
/// of a change: only an id that is at least as late ends it.
bool is_ended_by(const Deployment& deployment, const Deployment& other) {
  if (shared_member_carries(deployment, other)) return false;
  // NOLINTNEXTLINE(readability-suspicious-call-argument): the other way round
  if (!shared_member_carries(other, deployment)) return false;
  return deployment.joining.empty() || generation_of(deployment.id) <= generation_of(other.id);
}

/// The one change that turns the members of `from` into those of `to`; none: it takes more.
std::optional<MemberWish> difference(const Deployment& from, const Deployment& to) {
  std::vector<std::string> leaving;
  std::vector<std::string> entering;
  std::set_difference(from.members.begin(), from.members.end(), to.members.begin(),
                      to.members.end(), std::back_inserter(leaving));
  std::set_difference(to.members.begin(), to.members.end(), from.members.begin(),
                      from.members.end(), std::back_inserter(entering));
  if (leaving.size() > 1 || entering.size() > 1 || leaving.size() + entering.size() == 0) {
    return std::nullopt;
  }
  MemberWish wish;
  wish.kind = leaving.empty()    ? MemberWish::Kind::add
              : entering.empty() ? MemberWish::Kind::remove
                                 : MemberWish::Kind::replace;
  if (!leaving.empty()) wish.leaving = leaving.front();
  if (!entering.empty()) wish.entering = entering.front();
  return wish;
}

MemberWish bootstrap_of(const Deployment& deployment) {
  MemberWish wish;
  wish.kind = MemberWish::Kind::bootstrap;
  wish.members = deployment.members;
  wish.max_ttl = deployment.max_ttl;
  return wish;
}

std::vector<std::string>& carriers_like(Deployment& deployment, Marker::State state) {
  switch (state) {
    case Marker::State::joining:
      return deployment.joining;
    case Marker::State::opening:
      return deployment.opening;
    case Marker::State::blank:
    case Marker::State::active:
      break;
  }
  return deployment.active;
}

}  // namespace

const Marker* fresh_marker(const ObservedNode& node) noexcept {
  if (!node.marker) return nullptr;
  const Marker& marker = *node.marker;
  const bool remembers =
      marker.run_id == node.run_id && !forgets(change_of_memory(marker.replid, node.memory));
  return remembers ? &marker : nullptr;
}

const Marker* valid_marker(const ObservedNode& node) noexcept {
  const Marker* marker = fresh_marker(node);
  if (marker == nullptr) return nullptr;
  const bool names_it = marker->state == Marker::State::blank || marker->self == node.name;
  return names_it ? marker : nullptr;
}

std::vector<ObservedNode> with_member_names(std::vector<ObservedNode> nodes,
                                            const std::vector<std::string>& kept) {
  std::vector<std::string> asked;
  asked.reserve(2 * nodes.size());
  for (const ObservedNode& node : nodes) asked.push_back(node.name);
  // A node that was asked at a member's own URL keeps that name: otherwise that member would be
  // missing for ever.
  const auto is_member = [&nodes](const std::string& name) {
    return std::any_of(nodes.begin(), nodes.end(), [&name](const ObservedNode& other) {
      return other.marker && contains(other.marker->members, name);
    });
  };
  for (ObservedNode& node : nodes) {
    const Marker* marker = fresh_marker(node);
    if (marker == nullptr || marker->state == Marker::State::blank) continue;
    if (marker->self.empty() || contains(asked, marker->self)) continue;
    if (contains(kept, node.name) || is_member(node.name)) continue;
    node.name = marker->self;
    asked.push_back(node.name);
  }
  return nodes;
}

const ObservedNode* find_node(const std::vector<ObservedNode>& nodes,
                              std::string_view name) noexcept {
  const auto node = std::find_if(nodes.begin(), nodes.end(),
                                 [name](const ObservedNode& other) { return other.name == name; });
  return node == nodes.end() ? nullptr : &*node;
}

std::vector<std::string> unseen_members(const std::vector<ObservedNode>& nodes) {
  std::map<std::string_view, std::size_t> named_by;
  std::size_t marked = 0;
  for (const ObservedNode& node : nodes) {
    if (!node.marker || node.marker->members.empty()) continue;
    ++marked;
    for (const std::string& member : node.marker->members) ++named_by[member];
  }
  std::vector<std::string> unseen;
  for (const auto& [name, count] : named_by) {
    if (count >= majority(marked) && find_node(nodes, name) == nullptr) unseen.emplace_back(name);
  }
  return unseen;
}

bool Deployment::has_member(std::string_view name) const noexcept {
  return contains(members, name);
}

bool Deployment::is_carried_by(std::string_view name) const noexcept {
  return contains(active, name) || contains(joining, name) || contains(opening, name);
}

Marker Deployment::list() const {
  Marker marker;
  marker.state = Marker::State::active;
  marker.deployment = id;
  marker.members = members;
  marker.admissions = admissions;
  return marker;
}

bool Deployment::admits(const Marker& marker) const {
  return marker.deployment == id && marker.members == members &&
         own_admission(marker) == admission_of(list(), marker.self);
}

namespace {

using Carriers = std::vector<std::pair<const ObservedNode*, const Marker*>>;

/// The valid markers of each deployment, in the order of the nodes.
std::vector<Carriers> markers_by_id(const std::vector<ObservedNode>& nodes) {
  std::vector<Carriers> found;
  for (const ObservedNode& node : nodes) {
    const Marker* marker = valid_marker(node);
    if (marker == nullptr || marker->state == Marker::State::blank) continue;
    const auto known = std::find_if(found.begin(), found.end(), [marker](const Carriers& other) {
      return other.front().second->deployment == marker->deployment;
    });
    if (known == found.end()) {
      found.push_back({{&node, marker}});
    } else {
      known->emplace_back(&node, marker);
    }
  }
  return found;
}

/// The marker whose list of members most of these markers have.
const Marker& most_common(const Carriers& markers) {
  const auto like = [&markers](const Marker& list) {
    return std::count_if(markers.begin(), markers.end(), [&list](const auto& other) {
      return other.second->members == list.members;
    });
  };
  const Marker* best = markers.front().second;
  for (const auto& [node, marker] : markers) {
    if (like(*marker) > like(*best)) best = marker;
  }
  return *best;
}

/// Sets the latest admission of each member. For a member that is there, an admission later than
/// its own counts only if a majority of the members knows it: a single node may be wrong.
void join_admissions(Deployment& deployment, const Carriers& markers) {
  Marker joined = deployment.list();
  for (const auto& [node, marker] : markers) raise_admissions(joined, *marker);
  for (const auto& carrier : markers) {
    const Marker& marker = *carrier.second;
    const std::string later(admission_of(joined, marker.self));
    if (!deployment.has_member(marker.self) || own_admission(marker) == later) continue;
    const auto aware = std::count_if(markers.begin(), markers.end(), [&](const auto& other) {
      return admission_of(*other.second, marker.self) == later;
    });
    if (static_cast<std::size_t>(aware) < majority(joined.members.size())) {
      set_admission(joined, marker.self, own_admission(marker));
    }
  }
  deployment.admissions = std::move(joined.admissions);
}

Deployment read_deployment(const Carriers& all) {
  const Marker& list = most_common(all);
  Deployment deployment{list.deployment, list.members, {}, milliseconds(0), {}, {}, {}};
  Carriers alike;
  for (const auto& carrier : all) {
    if (carrier.second->members == list.members) alike.push_back(carrier);
  }
  join_admissions(deployment, alike);
  for (const auto& [node, marker] : alike) {
    if (!deployment.admits(*marker)) continue;
    deployment.max_ttl = std::max(deployment.max_ttl, marker->max_ttl);
    carriers_like(deployment, marker->state).push_back(node->name);
  }
  return deployment;
}

}  // namespace

std::vector<Deployment> deployments_of(const std::vector<ObservedNode>& nodes) {
  std::vector<Deployment> deployments;
  for (const Carriers& markers : markers_by_id(nodes)) {
    deployments.push_back(read_deployment(markers));
  }
  return deployments;
}

void join_admissions(Deployment& deployment, const std::vector<ObservedNode>& nodes,
                     const std::vector<Deployment>& others) {
  const auto counts = [&](const Carriers& markers) {
    const std::string& id = markers.front().second->deployment;
    return id == deployment.id ||
           std::any_of(others.begin(), others.end(),
                       [&id](const Deployment& other) { return other.id == id; });
  };
  Carriers all;
  for (const Carriers& markers : markers_by_id(nodes)) {
    if (counts(markers)) all.insert(all.end(), markers.begin(), markers.end());
  }
  join_admissions(deployment, all);
}

std::vector<Deployment> without_ended(const std::vector<Deployment>& deployments) {
  std::vector<Deployment> alive;
  for (const Deployment& deployment : deployments) {
    const bool ended =
        std::any_of(deployments.begin(), deployments.end(), [&](const Deployment& other) {
          return other.id != deployment.id && is_ended_by(deployment, other);
        });
    if (!ended) alive.push_back(deployment);
  }
  return alive;
}

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string shell_list(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return support::shell_word(list);
}

std::string members_command(std::string_view verb, const std::vector<std::string>& names) {
  // Names come from markers, which anybody may write: none may be taken for an option.
  const bool as_option = std::any_of(names.begin(), names.end(),
                                     [](const std::string& name) { return name.starts_with('-'); });
  std::string command = "members " + std::string(verb) + (as_option ? " --" : "");
  for (const std::string& name : names) command += ' ' + support::shell_word(name);
  return command;
}

std::string command_of(const MemberWish& wish) {
  switch (wish.kind) {
    case MemberWish::Kind::replace:
      return members_command("replace", {wish.leaving, wish.entering});
    case MemberWish::Kind::add:
      return members_command("add", {wish.entering});
    case MemberWish::Kind::remove:
      return members_command("remove", {wish.leaving});
    case MemberWish::Kind::bootstrap:
      break;
  }
  std::string command = "bootstrap --nodes " + shell_list(wish.members);
  command += " --max-ttl " + std::to_string(wish.max_ttl.count()) + "ms";
  return wish.after_loss ? command + " --after-loss" : command;
}

std::vector<std::string> members_after(const std::vector<std::string>& members,
                                       const MemberWish& wish) {
  std::vector<std::string> after;
  for (const std::string& member : members) {
    if (member != wish.leaving) after.push_back(member);
  }
  if (!wish.entering.empty()) after.push_back(wish.entering);
  return sorted(std::move(after));
}

std::optional<MemberWish> change_under_way(const std::vector<ObservedNode>& nodes) {
  const auto all = deployments_of(nodes);
  auto alive = without_ended(all);
  std::sort(alive.begin(), alive.end(), [](const Deployment& a, const Deployment& b) {
    return generation_of(a.id) < generation_of(b.id);
  });
  if (alive.empty()) return std::nullopt;
  const Deployment& last = alive.back();
  for (const Deployment& deployment : alive) {
    if (!deployment.opening.empty()) return bootstrap_of(deployment);
  }
  if (alive.size() == 1 && last.joining.empty()) return std::nullopt;
  // NOLINTNEXTLINE(modernize-loop-convert): clang 14 cannot compile std::views::reverse
  for (auto from = all.rbegin(); from != all.rend(); ++from) {
    const bool earlier = generation_of(from->id) < generation_of(last.id);
    if (auto wish = earlier ? difference(*from, last) : std::nullopt) return wish;
  }
  if (last.joining.size() == 1 && !last.active.empty()) {
    // All others have the new id already, so the replaced node is no longer known.
    MemberWish wish;
    wish.kind = MemberWish::Kind::add;
    wish.entering = last.joining.front();
    return wish;
  }
  return bootstrap_of(last);
}

namespace {

/// The command that undoes the change after it is made.
std::optional<MemberWish> reverse_of(const MemberWish& wish) {
  MemberWish reverse;
  reverse.leaving = wish.entering;
  reverse.entering = wish.leaving;
  switch (wish.kind) {
    case MemberWish::Kind::replace:
      reverse.kind = MemberWish::Kind::replace;
      return reverse;
    case MemberWish::Kind::add:
      reverse.kind = MemberWish::Kind::remove;
      return reverse;
    case MemberWish::Kind::remove:
      reverse.kind = MemberWish::Kind::add;
      return reverse;
    case MemberWish::Kind::bootstrap:
      break;
  }
  return std::nullopt;
}

/// "It is done on A and missing on B, C."
std::string progress_of(const Deployment& made) {
  std::vector<std::string> missing;
  for (const std::string& member : made.members) {
    if (!contains(made.active, member)) missing.push_back(member);
  }
  if (missing.empty()) return "All members have it. ";
  return (made.active.empty() ? "It is" : "It is done on " + list_of(made.active) + " and") +
         " missing on " + list_of(missing) + ". ";
}

}  // namespace

std::string describe_unfinished(const std::vector<ObservedNode>& nodes, const MemberWish& wish) {
  const auto alive = without_ended(deployments_of(nodes));
  const auto last = std::max_element(alive.begin(), alive.end(),
                                     [](const Deployment& one, const Deployment& other) {
                                       return generation_of(one.id) < generation_of(other.id);
                                     });
  std::string text = last == alive.end() ? std::string() : progress_of(*last);
  text += "Resume it with: quorum-lock " + command_of(wish);
  if (const auto reverse = reverse_of(wish)) {
    text += ". To take it back, finish it first, then run: quorum-lock " + command_of(*reverse);
  }
  return text;
}

milliseconds quarantine_for(milliseconds max_ttl, const MemberWish& wish) noexcept {
  const Duration shortest = max_ttl + drift(max_ttl);
  return std::max(std::chrono::ceil<milliseconds>(shortest), wish.shortest_quarantine);
}

}  // namespace redlock::core
