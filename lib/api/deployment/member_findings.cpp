#include "api/deployment/member_findings.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/votes/quorum.hpp"

namespace redlock::api {
namespace {

using core::Deployment;
using core::list_of;
using core::Marker;
using core::ObservedNode;

using Names = std::vector<std::string>;

Names names_of(const std::vector<ObservedNode>& nodes) {
  Names names;
  for (const ObservedNode& node : nodes) names.push_back(node.name);
  return names;
}

bool is_marked(const ObservedNode& node) { return !node.text.empty(); }
bool is_usable(const ObservedNode& node) { return node.problem.empty(); }

/// The member that the node at this URL is, which clients may know by another name.
std::string member_name(const ObservedNode& node, const Deployment& deployment) {
  const Marker* marker = core::fresh_marker(node);
  const bool carries = marker != nullptr && marker->deployment == deployment.id;
  return carries ? marker->self : node.name;
}

/// The deployment of which a quorum of the members was seen.
std::optional<Deployment> serving(const std::vector<ObservedNode>& nodes) {
  const auto named = core::with_member_names(nodes);
  for (const Deployment& deployment : core::without_ended(core::deployments_of(named))) {
    if (deployment.active.size() >= core::majority(deployment.members.size())) return deployment;
  }
  return std::nullopt;
}

/// Added to the advice to run `bootstrap` or `members`, which need scripts.
std::string unless_without_scripts(const std::vector<ObservedNode>& nodes) {
  Names without;
  for (const ObservedNode& node : nodes) {
    if (!node.runs_scripts) without.push_back(node.name);
  }
  return without.empty() ? ""
                         : " It needs EVAL, which this user cannot run on " + list_of(without) +
                               ": use one who can.";
}

admin::Finding not_bootstrapped(const std::vector<ObservedNode>& nodes) {
  return {list_of(names_of(nodes)), admin::Finding::Kind::not_bootstrapped,
          "No node has a marker: the deployment has not been opened, or all its nodes have lost "
          "their data.",
          "The first clients to connect open it by themselves, but only after a quarantine of max "
          "TTL, because a lock that the nodes have forgotten may still be held.",
          "For new nodes: run quorum-lock bootstrap once, with the nodes that all clients name." +
              unless_without_scripts(nodes)};
}

admin::Finding unfinished(const std::vector<ObservedNode>& nodes, const core::MemberWish& wish) {
  Names concerned;
  for (const ObservedNode& node : nodes) {
    const Marker* marker = core::fresh_marker(node);
    if (marker != nullptr && marker->state != Marker::State::blank) concerned.push_back(node.name);
  }
  const bool opens = wish.kind == core::MemberWish::Kind::bootstrap;
  return {list_of(concerned), admin::Finding::Kind::other_deployment,
          opens ? "The deployment is not completely opened."
                : "A change of the members is not finished: the nodes belong to different "
                  "deployments, or one of them is still joining.",
          "Votes of different deployments do not count together, so that fewer nodes may fail "
          "than usual, or no lock can be acquired at all. A node that is joining or opening has no "
          "vote.",
          "Finish it: quorum-lock " + core::command_of(wish) + "." + unless_without_scripts(nodes)};
}

/// A member that has since been taken back under another admission.
admin::Finding replaced(const std::string& name) {
  return {
      name, admin::Finding::Kind::other_deployment,
      "Its place was given to another server of the same name, or to this one after it had lost "
      "its data; then the old data were put back.",
      "Its votes count for nobody. After a quarantine it is taken back, and the other server loses "
      "its membership.",
      "Make sure that " + name + " leads to the same server everywhere."};
}

/// Nodes of one deployment whose markers name different members: nobody can know from outside which
/// of them somebody has written.
std::optional<admin::Finding> differing_lists(const std::vector<ObservedNode>& nodes) {
  std::map<std::string, std::map<Names, Names>> lists;  // by deployment, the nodes with each list
  for (const ObservedNode& node : nodes) {
    const Marker* marker = core::fresh_marker(node);
    if (marker == nullptr || marker->state != Marker::State::active) continue;
    lists[marker->deployment][marker->members].push_back(node.name);
  }
  for (const auto& [id, by_list] : lists) {
    if (by_list.size() < 2) continue;
    Names concerned;
    std::string what =
        "Markers of one deployment name different members, so somebody has written "
        "one of them by hand.";
    for (const auto& [members, names] : by_list) {
      concerned.insert(concerned.end(), names.begin(), names.end());
      what += ' ' + list_of(names) + (names.size() == 1 ? " names " : " name ") + list_of(members) +
              '.';
    }
    return admin::Finding{
        list_of(concerned), admin::Finding::Kind::other_deployment, std::move(what),
        "Only nodes whose markers most others share have a vote, and clients connect to members "
        "that most of them name.",
        "Find out who can write to these nodes. Where the list is wrong, delete the key "
        "redlock:node:marker: the others take the node back, and it votes after a quarantine."};
  }
  return std::nullopt;
}

/// A member that has lost its data, and why the others do not take it back. `unlisted`: members
/// that were not asked, because the list lacks them.
admin::Finding forgotten(const std::string& name, const std::vector<ObservedNode>& nodes,
                         const Deployment& deployment, const Names& unlisted) {
  Names forgot;
  Names away;
  for (const std::string& member : deployment.members) {
    const ObservedNode* const node = core::find_node(nodes, member);
    if (node == nullptr || !is_usable(*node)) {
      away.push_back(member);
    } else if (!deployment.is_carried_by(member)) {
      forgot.push_back(member);
    }
  }
  const std::size_t members = deployment.members.size();
  const std::size_t needed = core::majority(members);
  std::string what = "It has lost its data, as " + std::to_string(forgot.size()) + " of " +
                     std::to_string(members) + " members have.";
  if (forgot.size() == 1) what = "It has lost its data.";
  if (members - forgot.size() < needed) {
    return {name, admin::Finding::Kind::membership,
            what + " Too few are left that remember which deployment it belongs to.",
            "It has no vote, and no waiting gives it one.",
            "When no lock can be left, because the clients have stopped or max TTL has passed: "
            "quorum-lock bootstrap."};
  }
  const std::size_t missing = needed - std::min(needed, deployment.active.size());
  return {
      name, admin::Finding::Kind::membership,
      what + " The others take it back when " + std::to_string(needed) +
          " of them are there that remember.",
      "It has no vote until then, and for a quarantine afterwards.",
      !unlisted.empty()
          ? "Give the clients a list with all members first: it lacks " + list_of(unlisted) + "."
          : "Bring back " + std::to_string(missing) + " of: " + list_of(away) +
                ". If that cannot be, start empty servers in their places and, when no lock can be "
                "left, run quorum-lock bootstrap."};
}

/// A node with a blank marker that no deployment takes back.
admin::Finding blank(const ObservedNode& node, const std::vector<ObservedNode>& nodes,
                     const std::optional<Deployment>& current,
                     const std::optional<Deployment>& known, const Names& unlisted) {
  if (!current && known && known->has_member(node.name)) {
    return forgotten(node.name, nodes, *known, unlisted);
  }
  return {node.name, admin::Finding::Kind::membership,
          known ? "It is blank, and not a member of the deployment of the others."
                : "It is blank: it is new, or all nodes that answer have lost their data.",
          "It has no vote until it is a member.",
          known ? "Make it a member with quorum-lock members add or replace, or take it off the "
                  "list."
                : "Clients open the deployment as soon as all nodes answer: begin with those that "
                  "do not. Or run quorum-lock bootstrap when no lock can be left."};
}

std::vector<admin::Finding> judge_nodes(const std::vector<ObservedNode>& nodes,
                                        const std::optional<Deployment>& current,
                                        const std::optional<Deployment>& known,
                                        const Names& unlisted, bool restart_guard) {
  std::vector<admin::Finding> findings;
  for (const ObservedNode& node : nodes) {
    const Marker* marker = core::fresh_marker(node);
    const bool named = current && current->has_member(node.name);
    const bool unmarked = !is_marked(node) && is_usable(node) && restart_guard;
    if (named && unmarked) {
      findings.push_back(not_met_since(node.name, "It has lost its data"));
    } else if (unmarked && known && known->has_member(node.name)) {
      findings.push_back(forgotten(node.name, nodes, *known, unlisted));
    }
    if (marker == nullptr || !is_usable(node)) continue;
    // If nobody remembers a deployment, the quarantine is a finding of its own.
    const bool waits = !known && node.quarantine.count() > 0;
    if (marker->state == Marker::State::blank && !named && !waits) {
      findings.push_back(blank(node, nodes, current, known, unlisted));
    }
    const bool of_it = current && marker->state == Marker::State::active &&
                       marker->deployment == current->id && marker->members == current->members;
    if (of_it && !current->admits(*marker)) findings.push_back(replaced(node.name));
    const bool removed =
        marker->state == Marker::State::active && current && marker->deployment != current->id;
    if (removed) {
      findings.push_back({node.name, admin::Finding::Kind::other_deployment,
                          "It was replaced or removed, and still runs with its old membership.",
                          "Its votes count for nobody. It is harmless, but easily mistaken for a "
                          "member.",
                          "Stop it and take it off the list, or take it back with quorum-lock " +
                              core::members_command("add", {node.name}) + "."});
    }
  }
  return findings;
}

struct ListDifference {
  Names missing{};  ///< members that no node of the list is
  Names extra{};    ///< nodes of the list that are not members
  /// The list lacks members, even if nodes that cannot be asked are members by other names.
  bool lacks = false;
};

ListDifference compare_list(const std::vector<ObservedNode>& listed, const Deployment& current) {
  ListDifference list{current.members, {}};
  std::size_t unknown = 0;
  for (const ObservedNode& node : listed) {
    const std::string name = member_name(node, current);
    if (!current.has_member(name)) {
      list.extra.push_back(node.name);
      unknown += is_usable(node) ? 0U : 1U;
    }
    list.missing.erase(std::remove(list.missing.begin(), list.missing.end(), name),
                       list.missing.end());
  }
  list.lacks = list.missing.size() > unknown;
  return list;
}

admin::Finding stale_client(const ListDifference& list, const Deployment& current) {
  const auto sentence = [](const Names& names, const char* one, const char* several) {
    return names.empty() ? "" : ' ' + list_of(names) + (names.size() == 1 ? one : several);
  };
  return {list_of(list.extra.empty() ? list.missing : list.extra),
          admin::Finding::Kind::stale_client,
          "The list of nodes is not the list of members." +
              sentence(list.missing, " is a member, and the list lacks it.",
                       " are members, and the list lacks them.") +
              sentence(list.extra, " is not a member's URL.", " are not members' URLs."),
          "Only votes of members count, so locks stay safe. But a client finds members "
          "that its list leaves out only while it reaches a majority of the members.",
          "Give the clients this list: --nodes " + core::shell_list(current.members)};
}

}  // namespace

admin::Finding not_met_since(const std::string& node, const std::string& event) {
  return {
      node, admin::Finding::Kind::quarantined,
      event + ", and no client has met it since: its quarantine has not begun.",
      "A lock that it has forgotten may still be held, so it has no vote for max TTL from then on.",
      "Ask for a lock with any client (for example: quorum-lock run restarted -- sleep 1), then "
      "wait until the quarantine has ended."};
}

void judge_members(const std::vector<ObservedNode>& nodes, const ClientOptions& options,
                   std::vector<admin::Finding>& findings) {
  std::vector<ObservedNode> usable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(usable), is_usable);
  if (usable.empty()) return;
  if (std::none_of(usable.begin(), usable.end(), is_marked)) {
    if (options.guards.restart) findings.push_back(not_bootstrapped(usable));
    return;
  }
  const auto named = core::with_member_names(usable);
  if (const auto wish = core::change_under_way(named)) {
    findings.push_back(unfinished(usable, *wish));
    return;
  }
  const auto current = serving(usable);
  // If too few members are in the list, the list itself may be wrong.
  const auto alive = core::without_ended(core::deployments_of(named));
  const auto known = current ? current : alive.size() == 1 ? std::optional(alive[0]) : std::nullopt;
  const auto listed =
      nodes.begin() + static_cast<std::ptrdiff_t>(std::min(options.nodes.size(), nodes.size()));
  const auto list = known ? compare_list({nodes.begin(), listed}, *known) : ListDifference();
  auto differ = differing_lists(usable);
  // Then the members that the list lacks are missing, and clients do not find them.
  const bool is_cause = !current && !differ && list.lacks;
  if (is_cause) findings.insert(findings.begin(), stale_client(list, *known));
  for (admin::Finding& finding : judge_nodes(
           usable, current, known, is_cause ? list.missing : Names(), options.guards.restart)) {
    findings.push_back(std::move(finding));
  }
  if (differ) {
    // Nobody knows which list is right.
    findings.push_back(*std::move(differ));
    return;
  }
  const bool is_right = list.missing.empty() && list.extra.empty();
  if (!is_right && !is_cause) findings.push_back(stale_client(list, *known));
}

std::vector<std::string> members_beside(const std::vector<ObservedNode>& nodes) {
  std::vector<ObservedNode> usable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(usable), is_usable);
  const auto current = serving(usable);
  if (!current) return {};
  Names beside = current->members;
  for (const ObservedNode& node : nodes) {
    const std::string name = member_name(node, *current);
    beside.erase(std::remove(beside.begin(), beside.end(), name), beside.end());
  }
  return beside;
}

std::optional<std::chrono::nanoseconds> when_granted(const std::vector<ObservedNode>& nodes,
                                                     const ClientOptions& options) {
  std::vector<ObservedNode> usable;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(usable), is_usable);
  const auto current = serving(usable);
  if (!current) return std::nullopt;
  std::vector<std::chrono::milliseconds> left;
  for (const ObservedNode& node : usable) {
    const Marker* marker = core::fresh_marker(node);
    const bool votes = marker != nullptr && marker->state == Marker::State::active &&
                       marker->deployment == current->id;
    if (!votes || node.until_reign == std::chrono::milliseconds::max()) continue;
    const auto wait = std::max(node.quarantine, node.until_reign);
    left.push_back(options.guards.restart ? wait : decltype(left)::value_type{});
  }
  const std::size_t quorum = core::majority(current->members.size());
  if (left.size() < quorum) return std::nullopt;
  std::sort(left.begin(), left.end());
  const auto last = left.at(quorum - 1);
  return last == std::chrono::milliseconds::max() ? forever : std::chrono::nanoseconds(last);
}

}  // namespace redlock::api
