#include "core/enrolment.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/quorum.hpp"
#include "core/validity.hpp"

namespace redlock::core {
namespace {

using State = Marker::State;

/// For how long a foreign opening must stand still to be taken for abandoned. Each step of one
/// takes a round trip; different waits keep two clients from replacing each other's.
constexpr Duration shortest_wait = std::chrono::seconds(2);
constexpr Duration longest_wait = std::chrono::seconds(3);

bool is(const NodeView& node, State state) {
  return node.usable && node.marker != nullptr && node.marker->state == state;
}

bool carries(const NodeView& node, const Marker& deployment) {
  return is(node, State::active) && node.marker->deployment == deployment.deployment &&
         node.marker->members == deployment.members;
}

/// Its admission is the one that the deployment knows for it.
bool is_admitted(const NodeView& node, const Marker& deployment) {
  return carries(node, deployment) &&
         own_admission(*node.marker) == admission_of(deployment, node.marker->self);
}

bool is_member(std::string_view name, const Marker& deployment) {
  return std::binary_search(deployment.members.begin(), deployment.members.end(), name,
                            std::less<>());
}

template <typename Which>
NodeSet where(std::span<const NodeView> nodes, Which&& which) {
  NodeSet found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (which(nodes[i])) found.add(static_cast<NodeIndex>(i));
  }
  return found;
}

NodeSet carriers(std::span<const NodeView> nodes, const Marker& deployment) {
  return where(nodes, [&](const NodeView& node) { return carries(node, deployment); });
}

NodeSet admitted_to(std::span<const NodeView> nodes, const Marker& deployment) {
  return where(nodes, [&](const NodeView& node) { return is_admitted(node, deployment); });
}

/// With the latest admission of each member that any of its carriers knows.
Marker with_admissions_of_all(std::span<const NodeView> nodes, const Marker& deployment) {
  Marker joined = deployment;
  for (const NodeView& node : nodes) {
    if (carries(node, deployment)) raise_admissions(joined, *node.marker);
  }
  return joined;
}

/// A name that means another machine on every machine.
bool is_local(std::string_view name) {
  constexpr std::string_view hosts[] = {"localhost", "127.", "[::1]"};
  const std::size_t scheme = name.find("://");
  const std::string_view rest = scheme == std::string_view::npos ? name : name.substr(scheme + 3);
  return name.starts_with("unix:") ||
         std::any_of(std::begin(hosts), std::end(hosts),
                     [&](std::string_view host) { return rest.starts_with(host); });
}

/// Which member of the deployment the node at this URL is; empty: none, or another node is. What
/// its own marker once said here counts for more than the URL. A local URL says nothing, but where
/// all members are local to one machine.
std::string_view name_in(const Marker& deployment, const NodeView& node,
                         std::span<const NodeView> nodes) {
  const auto& members = deployment.members;
  const bool means_one_machine =
      !is_local(node.name) || std::all_of(members.begin(), members.end(), is_local);
  std::string_view name = node.known_as;
  if (name.empty() && means_one_machine) name = node.name;
  if (name.empty() || !is_member(name, deployment)) return {};
  const bool claimed = std::any_of(nodes.begin(), nodes.end(), [&](const NodeView& other) {
    return is_admitted(other, deployment) && other.marker->self == name;
  });
  return claimed ? std::string_view() : name;
}

/// So many other members prove that the deployment was not superseded: of one that was, only the
/// node that was left out may still carry the id. Of two members nobody can be adopted.
std::size_t proof_of(const Marker& deployment) { return majority(deployment.members.size()); }

/// By run_id, which is the same for all clients, whatever names they know the nodes by: of two that
/// open at once, one fails at its first writing.
NodeIndex first_of(NodeSet which, std::span<const NodeView> nodes) {
  std::optional<NodeIndex> first;
  which.each([&](NodeIndex node) {
    if (!first || nodes[node].marker->run_id < nodes[*first].marker->run_id) first = node;
  });
  return first.value_or(NodeIndex{0});
}

Marker follow_up(const Marker& marker, Randomness& random) {
  Marker next = marker;
  next.incarnation = random.token().str();
  return next;
}

}  // namespace

Enrolment::Enrolment(Duration max_ttl, Duration own_quarantine)
    : max_ttl_(std::chrono::ceil<std::chrono::milliseconds>(max_ttl)),
      own_quarantine_(own_quarantine) {}

Duration Enrolment::quarantine(std::span<const NodeView> nodes) const {
  Duration longest = own_quarantine_;
  for (const NodeView& node : nodes) {
    if (node.marker == nullptr) continue;
    const Duration max_ttl = node.marker->max_ttl;
    longest = std::max(longest, max_ttl + drift(max_ttl));
  }
  return longest;
}

Enrolment::Step Enrolment::next(std::span<const NodeView> nodes, Randomness& random) {
  Step step = adopt(nodes, random);
  if (std::holds_alternative<Nothing>(step)) step = raise_members(nodes, random);
  if (std::holds_alternative<Nothing>(step)) step = open(nodes, random);
  return std::holds_alternative<Nothing>(step) ? await_replaced(nodes) : step;
}

/// Which of these nodes have not been read again since the markers of these nodes are what they
/// are.
NodeSet Enrolment::confirm(std::span<const NodeView> nodes, NodeSet which) {
  std::vector<std::string> incarnations(nodes.size());
  which.each([&](NodeIndex node) { incarnations[node] = nodes[node].marker->incarnation; });
  if (incarnations != pass_) {
    pass_ = std::move(incarnations);
    if (++pass_number_ == 0) ++pass_number_;
    confirmed_ = NodeSet();
  }
  return which - confirmed_;
}

namespace {

/// A deployment that has enough members here to take back the node.
struct Adopter {
  Marker deployment{};      ///< with the admission that the node gets
  std::string_view name{};  ///< that the node gets
  NodeSet carriers{};       ///< members, but for the node
  bool opened = false;  ///< the node was marked for its opening, and has forgotten nothing since
};

/// What the node's deployment is once the node is taken back: all clients choose the same one.
void admit(Adopter& adopter, const Marker& marker) {
  const std::string_view admission = admission_of(adopter.deployment, adopter.name);
  adopter.opened = marker.state == State::opening &&
                   marker.deployment == adopter.deployment.deployment &&
                   own_admission(marker) == admission;
  if (adopter.opened || is_admission_of(admission, marker.incarnation)) return;
  set_admission(adopter.deployment, adopter.name, next_admission(admission, marker.incarnation));
}

std::optional<Adopter> find_adopter(std::span<const NodeView> nodes, const NodeView& node,
                                    Duration max_ttl) {
  for (const NodeView& other : nodes) {
    if (!is(other, State::active) || other.marker->max_ttl != max_ttl) continue;
    Adopter adopter{with_admissions_of_all(nodes, *other.marker), {}, {}};
    const Marker& deployment = adopter.deployment;
    adopter.carriers = admitted_to(nodes, deployment);
    if (adopter.carriers.size() < proof_of(deployment)) continue;
    adopter.name = name_in(deployment, node, nodes);
    const bool replaced = carries(node, deployment) && !is_admitted(node, deployment);
    const bool of_it = is(node, State::opening) && node.marker->deployment == deployment.deployment;
    // Its opening was completed without it.
    if (of_it && adopter.name.empty()) adopter.name = node.marker->self;
    if (adopter.name.empty()) continue;
    // Or it was marked by a client that did not know that the others are open already: of the same
    // members, that opening has come to nothing.
    const bool abandoned = is(node, State::opening) && node.marker->members == deployment.members;
    if (!is(node, State::blank) && !of_it && !abandoned && !replaced) continue;
    admit(adopter, *node.marker);
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

/// Those of them that do not have the admissions of the deployment yet.
NodeSet behind(std::span<const NodeView> nodes, NodeSet members, const Marker& deployment) {
  return members & where(nodes, [&](const NodeView& node) {
           return node.marker != nullptr && node.marker->admissions != deployment.admissions;
         });
}

}  // namespace

Enrolment::Step Enrolment::adopt(std::span<const NodeView> nodes, Randomness& random) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    const bool unknown = is(nodes[i], State::blank) || is(nodes[i], State::opening);
    if (!unknown && !(is(nodes[i], State::active) && was_awaited(nodes, node))) continue;
    if (auto step = take_back(nodes, node, random)) return *std::move(step);
  }
  return Nothing{};
}

bool Enrolment::was_awaited(std::span<const NodeView> nodes, NodeIndex node) const {
  return wait_over_ && node < awaited_.size() && awaited_[node] == nodes[node].marker->incarnation;
}

/// A member whose place was given to another server, or to this one before its data were put back.
/// The other may be there, for clients whom the name leads to it, and as soon as this is found out
/// the name may lead there for all. So it is taken back late.
Enrolment::Step Enrolment::await_replaced(std::span<const NodeView> nodes) {
  for (const NodeView& node : nodes) {
    if (!is(node, State::active)) continue;
    const Marker deployment = with_admissions_of_all(nodes, *node.marker);
    if (is_admitted(node, deployment)) continue;
    if (admitted_to(nodes, deployment).size() < proof_of(deployment)) continue;
    return await_all(nodes, own_quarantine_);
  }
  return Nothing{};
}

/// The wait ends if any marker changes. One that is away has not.
Enrolment::Step Enrolment::await_all(std::span<const NodeView> nodes, Duration length) {
  std::vector<std::string> incarnations(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].alias && nodes[i].marker != nullptr) {
      incarnations[i] = nodes[i].marker->incarnation;
    } else if (i < awaited_.size()) {
      incarnations[i] = awaited_[i];
    }
  }
  if (incarnations != awaited_) {
    awaited_ = std::move(incarnations);
    if (++wait_.number == 0) ++wait_.number;
    wait_.length = length;
    wait_over_ = false;
  }
  return wait_;
}

std::optional<Enrolment::Step> Enrolment::take_back(std::span<const NodeView> nodes, NodeIndex node,
                                                    Randomness& random) {
  const std::optional<Adopter> adopter = find_adopter(nodes, nodes[node], max_ttl_);
  if (!adopter) return std::nullopt;
  if (const NodeSet unaware = behind(nodes, adopter->carriers, adopter->deployment);
      !unaware.empty()) {
    // It may be a member again meanwhile, and would be left out.
    if (const NodeSet unread = confirm(nodes, NodeSet::of(node)); !unread.empty()) {
      return Confirm{unread, pass_number_};
    }
    return raise(nodes, first_of(unaware, nodes), adopter->deployment, random);
  }
  const NodeSet unconfirmed =
      confirm(nodes, adopter->carriers | NodeSet::of(node)) - NodeSet::of(node);
  const NodeSet confirmed = adopter->carriers - unconfirmed;
  if (confirmed.size() < proof_of(adopter->deployment)) return Confirm{unconfirmed, pass_number_};
  if (adopter->opened) return activate(nodes, adopter->deployment, NodeSet::of(node), random);
  Write write;
  write.node = node;
  write.marker = follow_up(*nodes[node].marker, random);
  write.marker.state = State::active;
  write.marker.deployment = adopter->deployment.deployment;
  write.marker.max_ttl = adopter->deployment.max_ttl;
  write.marker.members = adopter->deployment.members;
  write.marker.admissions = adopter->deployment.admissions;
  write.marker.self = adopter->name;
  write.quarantine = quarantine(nodes);
  return write;
}

/// Members that were not there when others were taken back. Nobody is left out by it who is there
/// and could vote, unless a quorum knows already that another server is that member: one node may
/// say anything.
Enrolment::Step Enrolment::raise_members(std::span<const NodeView> nodes, Randomness& random) {
  for (const NodeView& node : nodes) {
    if (!is(node, State::active)) continue;
    const Marker deployment = with_admissions_of_all(nodes, *node.marker);
    const NodeSet all = carriers(nodes, deployment);
    const NodeSet admitted = admitted_to(nodes, deployment);
    const NodeSet unaware = behind(nodes, admitted, deployment);
    if (unaware.empty() || admitted.size() < proof_of(deployment)) continue;
    const bool known = (admitted - unaware).size() >= proof_of(deployment);
    if (known || admitted == all) return raise(nodes, first_of(unaware, nodes), deployment, random);
  }
  return Nothing{};
}

namespace {

/// What a client's own opening says of all nodes.
struct OwnOpening {
  std::vector<std::string> members{};
  std::chrono::milliseconds max_ttl{0};

  [[nodiscard]] bool is_on(const NodeView& node) const {
    return is(node, State::opening) && node.marker->members == members &&
           node.marker->self == node.name && node.marker->max_ttl == max_ttl;
  }
};

/// What the nodes say of the opening of their deployment. `begun` is none where no node carries
/// one that this client may go on with.
struct Opening {
  const Marker* begun = nullptr;  ///< the one to go on with
  NodeSet blank;
  NodeSet other;    ///< opening, with another id
  NodeSet foreign;  ///< of these: by a client with other names or another max TTL
  NodeSet opening;
  NodeSet active;
};

/// Whether the nodes of the view are all members of the opening, and there is no other member.
bool are_all_members(std::span<const NodeView> nodes, const Marker& opening) {
  std::vector<std::string_view> selves;
  for (const NodeView& node : nodes) {
    if (!node.alias) selves.emplace_back(node.marker->self);
  }
  std::sort(selves.begin(), selves.end());
  return std::equal(selves.begin(), selves.end(), opening.members.begin(), opening.members.end());
}

bool is_of(const Marker& marker, const Marker* opening) {
  return opening != nullptr && marker.deployment == opening->deployment &&
         marker.members == opening->members;
}

/// With the admission that each of the nodes was marked with. Nodes that are open already know
/// those that the others were opened with. None: they do not agree.
std::optional<Marker> with_admissions(std::span<const NodeView> nodes, const Marker& opening) {
  Marker opened = opening;
  const Marker* active = nullptr;
  for (const NodeView& node : nodes) {
    if (node.alias || node.marker == nullptr || !is_of(*node.marker, &opening)) continue;
    raise_admissions(opened, *node.marker);
    if (!is(node, State::active)) continue;
    if (active != nullptr && active->admissions != node.marker->admissions) return std::nullopt;
    active = node.marker;
  }
  return active != nullptr ? *active : opened;
}

/// The opening that all nodes carry and are the members of: names do not matter any more.
const Marker* marked_everywhere(std::span<const NodeView> nodes, const OwnOpening& own) {
  const Marker* first = nullptr;
  for (const NodeView& node : nodes) {
    if (node.alias) continue;
    if (!is(node, State::opening) || node.marker->max_ttl != own.max_ttl) return nullptr;
    if (first == nullptr) first = node.marker;
    if (node.marker->deployment != first->deployment) return nullptr;
  }
  return first != nullptr && are_all_members(nodes, *first) ? first : nullptr;
}

/// The active one; else one that only lacks its last step; else, as all clients with this list
/// choose, their opening whose id comes first.
const Marker* opening_to_follow(std::span<const NodeView> nodes, const OwnOpening& own) {
  const Marker* chosen = nullptr;
  for (const NodeView& node : nodes) {
    if (is(node, State::active)) return node.marker;
    if (!own.is_on(node)) continue;
    if (chosen == nullptr || node.marker->deployment < chosen->deployment) chosen = node.marker;
  }
  const Marker* complete = marked_everywhere(nodes, own);
  return complete != nullptr ? complete : chosen;
}

/// None: there is none that this client may have a part in.
std::optional<Opening> find_opening(std::span<const NodeView> nodes, const OwnOpening& own) {
  Opening found;
  found.begun = opening_to_follow(nodes, own);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (nodes[i].alias) continue;
    if (!nodes[i].usable || nodes[i].marker == nullptr) return std::nullopt;
    const Marker& marker = *nodes[i].marker;
    const bool of_it = is_of(marker, found.begun);
    switch (marker.state) {
      case State::joining:
        return std::nullopt;
      case State::blank:
        found.blank.add(node);
        break;
      case State::opening:
        (of_it ? found.opening : found.other).add(node);
        if (!of_it && !own.is_on(nodes[i])) found.foreign.add(node);
        break;
      case State::active:
        // Two deployments, or one that other nodes do not remember: an operator decides.
        if (!of_it) return std::nullopt;
        found.active.add(node);
        break;
    }
  }
  return found;
}

std::vector<std::string> names_of(std::span<const NodeView> nodes) {
  std::vector<std::string> names;
  for (const NodeView& node : nodes) {
    if (!node.alias) names.emplace_back(node.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool can_be_members(const std::vector<std::string>& names) {
  return std::all_of(names.begin(), names.end(),
                     [](const std::string& name) { return is_member_name(name); }) &&
         std::adjacent_find(names.begin(), names.end()) == names.end();
}

}  // namespace

Enrolment::Step Enrolment::open(std::span<const NodeView> nodes, Randomness& random) {
  const OwnOpening own{names_of(nodes), max_ttl_};
  const std::optional<Opening> found = find_opening(nodes, own);
  if (!found) return Nothing{};
  if (found->begun != nullptr && found->begun->max_ttl != max_ttl_) return Nothing{};

  if (!found->active.empty()) {
    // The first is activated only after all were confirmed to be opening, so that the others may
    // follow. Not beside a node that lost its marker: it may have been of a later deployment.
    const bool may_follow = (found->blank | found->other).empty() && !found->opening.empty();
    return may_follow ? activate(nodes, *found->begun, found->opening, random) : Step(Nothing{});
  }

  if (const NodeSet to_mark = found->blank | found->other; !to_mark.empty()) {
    if (!can_be_members(own.members)) return Nothing{};
    if (!found->foreign.empty()) {
      if (auto first = await_foreign(nodes, found->foreign, random)) return *std::move(first);
    }
    return mark_opening(nodes, to_mark, found->begun, random);
  }
  if (!are_all_members(nodes, *found->begun)) return Nothing{};
  const NodeSet unconfirmed = confirm(nodes, found->opening);
  if (!unconfirmed.empty()) return Confirm{unconfirmed, pass_number_};
  return activate(nodes, *found->begun, found->opening, random);
}

/// What is to be done before foreign openings may be overwritten; none: nothing any more. It keeps
/// clients from overwriting each other for ever; that at most one id becomes active is not its
/// concern.
std::optional<Enrolment::Step> Enrolment::await_foreign(std::span<const NodeView> nodes,
                                                        NodeSet foreign, Randomness& random) {
  const NodeSet all = where(nodes, [](const NodeView& node) { return !node.alias; });
  // Since the wait was over, this client may have written some of the nodes.
  bool abandoned = true;
  foreign.each([&](NodeIndex node) { abandoned = abandoned && was_awaited(nodes, node); });
  if (!abandoned) return await_all(nodes, random.between(shortest_wait, longest_wait));
  // The view may be old, and the foreign opening be finished elsewhere by now.
  const NodeSet unconfirmed = confirm(nodes, all);
  if (!unconfirmed.empty()) return Confirm{unconfirmed, pass_number_};
  return std::nullopt;
}

/// Of nodes that were members before, the id is not one of new nodes.
void Enrolment::draw_id(std::span<const NodeView> nodes, Randomness& random) {
  drawn_ = random.token().str();
  read_.assign(nodes.size(), {});
  marked_.assign(nodes.size(), {});
  const bool known = std::any_of(nodes.begin(), nodes.end(),
                                 [](const NodeView& node) { return !node.known_as.empty(); });
  for (std::size_t i = 0; i < nodes.size() && !known; ++i) {
    if (!nodes[i].alias) read_[i] = nodes[i].marker->incarnation;
  }
}

Enrolment::Step Enrolment::mark_opening(std::span<const NodeView> nodes, NodeSet which,
                                        const Marker* begun, Randomness& random) {
  Write write;
  write.node = first_of(which, nodes);
  write.marker = follow_up(*nodes[write.node].marker, random);
  write.marker.state = State::opening;
  if (begun == nullptr) draw_id(nodes, random);
  write.marker.deployment = begun != nullptr ? begun->deployment : drawn_;
  write.marker.max_ttl = max_ttl_;
  write.marker.members = names_of(nodes);
  write.marker.self = nodes[write.node].name;
  // The others' are known when it is activated.
  write.marker.admissions.clear();
  set_admission(write.marker, write.marker.self,
                next_admission(first_admission, write.marker.incarnation));
  const std::string& there = nodes[write.node].marker->incarnation;
  const bool as_read = write.node < read_.size() && read_[write.node] == there;
  if (as_read && write.marker.deployment == drawn_) {
    marked_[write.node] = write.marker.incarnation;
  }
  return write;
}

Enrolment::Step Enrolment::activate(std::span<const NodeView> nodes, const Marker& opening,
                                    NodeSet which, Randomness& random) const {
  const std::optional<Marker> opened = with_admissions(nodes, opening);
  if (!opened) return Nothing{};
  const NodeSet admitted =
      which & where(nodes, [&](const NodeView& node) {
        return node.marker != nullptr &&
               own_admission(*node.marker) == admission_of(*opened, node.marker->self);
      });
  if (admitted.empty()) return Nothing{};
  Write write;
  write.node = first_of(admitted, nodes);
  write.marker = follow_up(*nodes[write.node].marker, random);
  write.marker.state = State::active;
  write.marker.admissions = opened->admissions;
  write.quarantine = quarantine(nodes);
  const Marker& there = *nodes[write.node].marker;
  write.as_new = there.deployment == drawn_ && write.node < marked_.size() &&
                 there.incarnation == marked_[write.node];
  return write;
}

std::vector<std::string> unknown_members(std::span<const NodeView> nodes, std::size_t quorum) {
  for (const NodeView& node : nodes) {
    if (!is(node, State::active)) continue;
    const Marker& deployment = *node.marker;
    const std::size_t needed = std::max(quorum, majority(deployment.members.size()));
    if (carriers(nodes, deployment).size() < needed) continue;
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
  return {};
}

}  // namespace redlock::core
