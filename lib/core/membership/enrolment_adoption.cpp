#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/membership/enrolment_views.hpp"
#include "core/membership/reign.hpp"
#include "core/votes/quorum.hpp"

/// Nodes that forgot are taken back by the deployment that remembers them.
namespace redlock::core {
namespace {

/// Whether the node's admission is the one that the deployment knows.
bool is_admitted(const NodeView& node, const Marker& deployment) {
  return carries(node, deployment) &&
         own_admission(*node.marker) == admission_of(deployment, node.marker->self);
}

bool is_member(std::string_view name, const Marker& deployment) {
  return std::binary_search(deployment.members.begin(), deployment.members.end(), name,
                            std::less<>());
}

NodeSet carriers(std::span<const NodeView> nodes, const Marker& deployment) {
  return nodes_where(nodes, [&](const NodeView& node) { return carries(node, deployment); });
}

NodeSet admitted_to(std::span<const NodeView> nodes, const Marker& deployment) {
  return nodes_where(nodes, [&](const NodeView& node) { return is_admitted(node, deployment); });
}

/// The deployment with the latest admission of each member that any carrier knows.
Marker with_admissions_of_all(std::span<const NodeView> nodes, const Marker& deployment) {
  Marker joined = deployment;
  for (const NodeView& node : nodes) {
    if (carries(node, deployment)) raise_admissions(joined, *node.marker);
  }
  return joined;
}

/// Whether the name means a different machine on each machine.
bool is_local(std::string_view name) {
  constexpr std::string_view hosts[] = {"localhost", "127.", "[::1]"};
  const std::size_t scheme = name.find("://");
  const std::string_view rest = scheme == std::string_view::npos ? name : name.substr(scheme + 3);
  return name.starts_with("unix:") ||
         std::any_of(std::begin(hosts), std::end(hosts),
                     [&](std::string_view host) { return rest.starts_with(host); });
}

/// The first of the node's URLs that is a member's; empty: there is none. A local URL identifies a
/// node only if all members are local to one machine.
std::string_view member_url(const Marker& deployment, const NodeView& node) {
  const auto& members = deployment.members;
  const bool one_machine = std::all_of(members.begin(), members.end(), is_local);
  const auto is_ours = [&](std::string_view url) {
    return is_member(url, deployment) && (one_machine || !is_local(url));
  };
  if (is_ours(node.name)) return node.name;
  const auto other = std::find_if(node.also_named.begin(), node.also_named.end(), is_ours);
  return other == node.also_named.end() ? std::string_view() : *other;
}

/// The member of the deployment that the node is; empty: none, or another node is that member. The
/// node's own marker takes precedence over its URLs.
std::string_view name_in(const Marker& deployment, const NodeView& node,
                         std::span<const NodeView> nodes) {
  const std::string_view name =
      node.known_as.empty() ? member_url(deployment, node) : node.known_as;
  if (name.empty() || !is_member(name, deployment)) return {};
  const bool claimed = std::any_of(nodes.begin(), nodes.end(), [&](const NodeView& other) {
    return is_admitted(other, deployment) && other.marker->self == name;
  });
  return claimed ? std::string_view() : name;
}

/// The number of other members that prove that the deployment was not superseded: in a superseded
/// one, only the node that was left out may still carry the id. A deployment of two can adopt no
/// node.
std::size_t proof_of(const Marker& deployment) { return majority(deployment.members.size()); }

/// A deployment that has enough members here to take back the node.
struct Adopter {
  Marker deployment{};      ///< with the node's new admission
  std::string_view name{};  ///< the member that the node becomes
  NodeSet carriers{};       ///< members other than the node
  bool opened = false;  ///< the node was marked for this deployment's opening, and has forgotten
                        ///< nothing since
};

std::optional<Adopter> find_adopter(std::span<const NodeView> nodes, const NodeView& node,
                                    Duration max_ttl) {
  for (const NodeView& other : nodes) {
    if (!is_in(other, Marker::State::active) || other.marker->max_ttl != max_ttl) continue;
    Adopter adopter{with_admissions_of_all(nodes, *other.marker), {}, {}};
    const Marker& deployment = adopter.deployment;
    adopter.carriers = admitted_to(nodes, deployment);
    if (adopter.carriers.size() < proof_of(deployment)) continue;
    adopter.name = name_in(deployment, node, nodes);
    const bool replaced = carries(node, deployment) && !is_admitted(node, deployment);
    const bool of_it =
        is_in(node, Marker::State::opening) && node.marker->deployment == deployment.deployment;
    // The opening was completed without the node.
    if (of_it && adopter.name.empty()) adopter.name = node.marker->self;
    if (adopter.name.empty()) continue;
    // The node can also carry a failed opening of the same members, by a client that did not know
    // that the others were active already.
    const bool abandoned =
        is_in(node, Marker::State::opening) && node.marker->members == deployment.members;
    if (!is_in(node, Marker::State::blank) && !of_it && !abandoned && !replaced) continue;
    const std::string admission = admission_for(*node.marker, deployment, adopter.name);
    adopter.opened = of_it && admission == own_admission(*node.marker);
    set_admission(adopter.deployment, adopter.name, admission);
    return adopter;
  }
  return std::nullopt;
}

Enrolment::Write raise(std::span<const NodeView> nodes, NodeIndex node, const Marker& deployment,
                       Randomness& random) {
  Enrolment::Write write;
  write.node = node;
  write.marker = follow_up(*nodes[node].marker, random);
  write.marker.admissions = deployment.admissions;
  return write;
}

/// The nodes of `members` that do not carry the admissions of the deployment.
NodeSet behind(std::span<const NodeView> nodes, NodeSet members, const Marker& deployment) {
  return members & nodes_where(nodes, [&](const NodeView& node) {
           return node.marker != nullptr && node.marker->admissions != deployment.admissions;
         });
}

}  // namespace

Enrolment::Step Enrolment::adopt(std::span<const NodeView> nodes, Randomness& random) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    const bool unknown =
        is_in(nodes[i], Marker::State::blank) || is_in(nodes[i], Marker::State::opening);
    if (!unknown && !(is_in(nodes[i], Marker::State::active) && was_awaited(nodes, node))) continue;
    if (auto step = take_back(nodes, node, random)) return *std::move(step);
  }
  return Nothing{};
}

/// Waits before a member is taken back whose membership went to another server, or to this server
/// before its old data were put back. For some clients the name may lead to that other server, and
/// soon for all.
Enrolment::Step Enrolment::await_replaced(std::span<const NodeView> nodes) {
  for (const NodeView& node : nodes) {
    if (!is_in(node, Marker::State::active)) continue;
    const Marker deployment = with_admissions_of_all(nodes, *node.marker);
    if (is_admitted(node, deployment)) continue;
    if (admitted_to(nodes, deployment).size() < proof_of(deployment)) continue;
    return await_all(nodes, own_quarantine_);
  }
  return Nothing{};
}

std::optional<Enrolment::Step> Enrolment::take_back(std::span<const NodeView> nodes, NodeIndex node,
                                                    Randomness& random) {
  const std::optional<Adopter> adopter = find_adopter(nodes, nodes[node], max_ttl_);
  if (!adopter) return std::nullopt;
  if (const NodeSet unaware = behind(nodes, adopter->carriers, adopter->deployment);
      !unaware.empty()) {
    // The node may be a member again by now: raised admissions would leave it out.
    if (const NodeSet unread = confirm(nodes, NodeSet::of(node)); !unread.empty()) {
      return Confirm{unread, pass_number_};
    }
    return raise(nodes, first_by_run_id(unaware, nodes), adopter->deployment, random);
  }
  const NodeSet unconfirmed =
      confirm(nodes, adopter->carriers | NodeSet::of(node)) - NodeSet::of(node);
  const NodeSet confirmed = adopter->carriers - unconfirmed;
  if (confirmed.size() < proof_of(adopter->deployment)) return Confirm{unconfirmed, pass_number_};
  if (adopter->opened) return activate(nodes, adopter->deployment, NodeSet::of(node), random);
  Write write;
  write.node = node;
  write.marker = follow_up(*nodes[node].marker, random);
  write.marker.state = Marker::State::active;
  write.marker.deployment = adopter->deployment.deployment;
  write.marker.max_ttl = adopter->deployment.max_ttl;
  write.marker.members = adopter->deployment.members;
  write.marker.admissions = adopter->deployment.admissions;
  write.marker.self = adopter->name;
  write.marker.remembers_since = Marker::from_its_writing;
  write.quarantine = own_quarantine_;
  return write;
}

/// Raises the admissions of members that were away when others were taken back. This never leaves
/// out a node that is there and could vote, unless a quorum knows that another server is that
/// member: a single node may be wrong.
Enrolment::Step Enrolment::raise_members(std::span<const NodeView> nodes, Randomness& random) {
  for (const NodeView& node : nodes) {
    if (!is_in(node, Marker::State::active)) continue;
    const Marker deployment = with_admissions_of_all(nodes, *node.marker);
    const NodeSet all = carriers(nodes, deployment);
    const NodeSet admitted = admitted_to(nodes, deployment);
    const NodeSet unaware = behind(nodes, admitted, deployment);
    if (unaware.empty() || admitted.size() < proof_of(deployment)) continue;
    const bool known = (admitted - unaware).size() >= proof_of(deployment);
    if (known || admitted == all)
      return raise(nodes, first_by_run_id(unaware, nodes), deployment, random);
  }
  return Nothing{};
}

namespace {

/// The members that are not in the view.
std::vector<std::string> members_beside(std::span<const NodeView> nodes, const Marker& deployment) {
  std::vector<std::string> unknown;
  for (const std::string& member : deployment.members) {
    const bool known = std::any_of(nodes.begin(), nodes.end(), [&](const NodeView& other) {
      return other.name == member || other.known_as == member ||
             (carries(other, deployment) && other.marker->self == member);
    });
    if (!known) unknown.push_back(member);
  }
  return unknown;
}

/// The deployment that most nodes carry; null: none carries one.
const Marker* deployment_of_most(std::span<const NodeView> nodes) {
  const Marker* found = nullptr;
  std::size_t most = 0;
  for (const NodeView& node : nodes) {
    if (!is_in(node, Marker::State::active)) continue;
    const std::size_t count = carriers(nodes, *node.marker).size();
    if (count <= most) continue;
    found = node.marker;
    most = count;
  }
  return found;
}

}  // namespace

std::vector<std::string> unknown_members(std::span<const NodeView> nodes, std::size_t quorum) {
  for (const NodeView& node : nodes) {
    if (!is_in(node, Marker::State::active)) continue;
    const std::size_t needed = std::max(quorum, majority(node.marker->members.size()));
    if (carriers(nodes, *node.marker).size() >= needed) return members_beside(nodes, *node.marker);
  }
  return {};
}

namespace {

/// Sets what the client's list lacks, and what it has in its place.
void compare_list(Outlook& outlook, std::span<const NodeView> nodes, const Marker& deployment) {
  std::vector<std::string> unlisted = members_beside(nodes, deployment);
  std::size_t not_reached = 0;
  std::vector<std::string> strangers;
  for (const NodeView& node : nodes) {
    const bool names_one =
        carries(node, deployment) || node.alias || is_member(node.name, deployment) ||
        is_member(node.known_as, deployment) || !name_in(deployment, node, nodes).empty();
    if (names_one) continue;
    if (node.marker == nullptr) {
      ++not_reached;
    } else {
      strangers.emplace_back(node.name);
    }
  }
  if (unlisted.size() <= not_reached) return;
  outlook.unlisted = std::move(unlisted);
  outlook.strangers = std::move(strangers);
}

}  // namespace

Outlook outlook_of(std::span<const NodeView> nodes, std::size_t quorum, NodeSet others) {
  Outlook outlook;
  if (const Marker* const deployment = deployment_of_most(nodes)) {
    outlook.members = deployment->members.size();
    compare_list(outlook, nodes, *deployment);
    outlook.forgot =
        nodes_where(nodes, [&](const NodeView& node) {
          return is_in(node, Marker::State::blank) && !name_in(*deployment, node, nodes).empty();
        }).size();
    const std::size_t proof = proof_of(*deployment);
    outlook.needed = proof;
    outlook.are_there = admitted_to(nodes, *deployment).size() >= proof;
    // Even if all others come back, too few take part in taking back those that forgot.
    if (outlook.members - outlook.forgot < proof) outlook.impasse = Outlook::Impasse::forgotten;
  }
  const NodeSet all = nodes_where(nodes, [](const NodeView& node) { return !node.alias; });
  if (!others.empty() && (all - others).size() < quorum) {
    outlook.impasse = Outlook::Impasse::other_max_ttl;
  }
  const NodeSet miscounted = nodes_where(nodes, [](const NodeView& node) {
    return node.marker != nullptr && node.marker->state != Marker::State::blank &&
           servers_of(node.marker->self) != servers_of(node.name);
  });
  if (!miscounted.empty() && (all - miscounted).size() < quorum) {
    outlook.impasse = Outlook::Impasse::other_servers;
  }
  return outlook;
}

}  // namespace redlock::core
