#include "core/membership/enrolment.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/membership/enrolment_views.hpp"

namespace redlock::core {
namespace {

/// The bounds of the time after which a foreign opening that has not moved counts as abandoned.
/// Each of its steps takes a round trip; different waits keep two clients from replacing each
/// other's opening.
constexpr Duration shortest_wait = std::chrono::seconds(2);
constexpr Duration longest_wait = std::chrono::seconds(3);

}  // namespace

Enrolment::Enrolment(Duration max_ttl, Duration own_quarantine)
    : max_ttl_(std::chrono::ceil<std::chrono::milliseconds>(max_ttl)),
      own_quarantine_(own_quarantine) {}

Enrolment::Step Enrolment::next(std::span<const NodeView> nodes, Randomness& random) {
  Step step = adopt(nodes, random);
  if (std::holds_alternative<Nothing>(step)) step = raise_members(nodes, random);
  if (std::holds_alternative<Nothing>(step)) step = open(nodes, random);
  return std::holds_alternative<Nothing>(step) ? await_replaced(nodes) : step;
}

/// The nodes of this set that have not been read again since the last change of the set's markers.
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

bool Enrolment::was_awaited(std::span<const NodeView> nodes, NodeIndex node) const {
  return wait_over_ && node < awaited_.size() && awaited_[node] == nodes[node].marker->incarnation;
}

/// The wait in which no marker changes: a change begins a new wait. The marker of a node that is
/// away counts as unchanged.
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

namespace {

/// The nodes' states in the client's own opening.
struct OwnOpening {
  std::vector<std::string> members{};
  std::chrono::milliseconds max_ttl{0};

  [[nodiscard]] bool is_on(const NodeView& node) const {
    return is_in(node, Marker::State::opening) && node.marker->members == members &&
           node.marker->self == node.name && node.marker->max_ttl == max_ttl;
  }
};

/// The opening of the nodes' deployment, by their markers. `begun` is null if no node carries an
/// opening that this client may continue.
struct Opening {
  const Marker* begun = nullptr;  ///< the one to go on with
  NodeSet blank;
  NodeSet other;    ///< nodes that are opening with another id
  NodeSet foreign;  ///< nodes of `other` that a client with other names has marked
  NodeSet opening;
  NodeSet active;
};

/// Whether the nodes of the view are exactly the members of the opening.
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

/// The opening with the admission that each node was marked with. Active nodes know the others'
/// admissions already. None: the markers disagree.
std::optional<Marker> with_admissions(std::span<const NodeView> nodes, const Marker& opening) {
  Marker opened = opening;
  const Marker* active = nullptr;
  for (const NodeView& node : nodes) {
    if (node.alias || node.marker == nullptr || !is_of(*node.marker, &opening)) continue;
    raise_admissions(opened, *node.marker);
    if (!is_in(node, Marker::State::active)) continue;
    if (active != nullptr && active->admissions != node.marker->admissions) return std::nullopt;
    active = node.marker;
  }
  return active != nullptr ? *active : opened;
}

/// The opening that all nodes carry and whose members they are: names no longer matter. Null: there
/// is none.
const Marker* marked_everywhere(std::span<const NodeView> nodes, const OwnOpening& own) {
  const Marker* first = nullptr;
  for (const NodeView& node : nodes) {
    if (node.alias) continue;
    if (!is_in(node, Marker::State::opening) || node.marker->max_ttl != own.max_ttl) return nullptr;
    if (first == nullptr) first = node.marker;
    if (node.marker->deployment != first->deployment) return nullptr;
  }
  return first != nullptr && are_all_members(nodes, *first) ? first : nullptr;
}

/// The active opening; if there is none, one that only lacks its last step; if there is none, the
/// one whose id comes first, as all clients with this list choose.
const Marker* opening_to_follow(std::span<const NodeView> nodes, const OwnOpening& own) {
  const Marker* chosen = nullptr;
  for (const NodeView& node : nodes) {
    if (is_in(node, Marker::State::active)) return node.marker;
    if (!own.is_on(node)) continue;
    if (chosen == nullptr || node.marker->deployment < chosen->deployment) chosen = node.marker;
  }
  const Marker* complete = marked_everywhere(nodes, own);
  return complete != nullptr ? complete : chosen;
}

/// The opening that this client may take part in; none: there is no such opening.
std::optional<Opening> find_opening(std::span<const NodeView> nodes, const OwnOpening& own) {
  Opening found;
  found.begun = opening_to_follow(nodes, own);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto node = static_cast<NodeIndex>(i);
    if (nodes[i].alias) continue;
    if (!nodes[i].usable || nodes[i].marker == nullptr) return std::nullopt;
    const Marker& marker = *nodes[i].marker;
    // Clients that disagree open nothing: an operator decides which of them are right.
    if (marker.max_ttl != own.max_ttl) return std::nullopt;
    const bool of_it = is_of(marker, found.begun);
    switch (marker.state) {
      case Marker::State::joining:
        return std::nullopt;
      case Marker::State::blank:
        found.blank.add(node);
        break;
      case Marker::State::opening:
        (of_it ? found.opening : found.other).add(node);
        if (!of_it && !own.is_on(nodes[i])) found.foreign.add(node);
        break;
      case Marker::State::active:
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

  if (!found->active.empty()) {
    // The first node is activated only after all were confirmed to be opening, so the others may
    // follow. They may not if a node has lost its marker: it may have belonged to a later
    // deployment.
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

/// The steps before foreign openings may be overwritten; none: they may be. They keep clients from
/// overwriting each other for ever; another rule ensures that at most one id becomes active.
std::optional<Enrolment::Step> Enrolment::await_foreign(std::span<const NodeView> nodes,
                                                        NodeSet foreign, Randomness& random) {
  const NodeSet all = nodes_where(nodes, [](const NodeView& node) { return !node.alias; });
  // This client may have written to some of the nodes since the wait was over.
  bool abandoned = true;
  foreign.each([&](NodeIndex node) { abandoned = abandoned && was_awaited(nodes, node); });
  if (!abandoned) return await_all(nodes, random.between(shortest_wait, longest_wait));
  // The view may be old: the foreign opening may be finished by now.
  const NodeSet unconfirmed = confirm(nodes, all);
  if (!unconfirmed.empty()) return Confirm{unconfirmed, pass_number_};
  return std::nullopt;
}

namespace {

/// Whether a node was a member before: then the deployment is not new.
bool is_known(std::span<const NodeView> nodes) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const NodeView& node) { return !node.known_as.empty(); });
}

}  // namespace

void Enrolment::draw_id(std::span<const NodeView> nodes, Randomness& random) {
  drawn_ = random.token().str();
  read_.assign(nodes.size(), {});
  marked_.assign(nodes.size(), {});
  if (is_known(nodes)) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].alias) read_[i] = nodes[i].marker->incarnation;
  }
}

Enrolment::Step Enrolment::mark_opening(std::span<const NodeView> nodes, NodeSet which,
                                        const Marker* begun, Randomness& random) {
  Write write;
  write.node = first_by_run_id(which, nodes);
  write.marker = follow_up(*nodes[write.node].marker, random);
  write.marker.state = Marker::State::opening;
  if (begun == nullptr) draw_id(nodes, random);
  write.marker.deployment = begun != nullptr ? begun->deployment : drawn_;
  write.marker.max_ttl = max_ttl_;
  write.marker.members = names_of(nodes);
  write.marker.self = nodes[write.node].name;
  if (is_known(nodes)) write.marker.remembers_since = Marker::from_its_writing;
  // The other nodes' admissions are known when the node is activated.
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
      which & nodes_where(nodes, [&](const NodeView& node) {
        return node.marker != nullptr &&
               own_admission(*node.marker) == admission_of(*opened, node.marker->self);
      });
  if (admitted.empty()) return Nothing{};
  Write write;
  write.node = first_by_run_id(admitted, nodes);
  write.marker = follow_up(*nodes[write.node].marker, random);
  write.marker.state = Marker::State::active;
  write.marker.admissions = opened->admissions;
  write.quarantine = own_quarantine_;
  const Marker& there = *nodes[write.node].marker;
  write.as_new = there.deployment == drawn_ && write.node < marked_.size() &&
                 there.incarnation == marked_[write.node];
  return write;
}

}  // namespace redlock::core
