#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/marker.hpp"
#include "core/membership/node_memory.hpp"

/// Conclusions from the markers of several nodes: which deployments exist, which are over, and
/// which change is under way.
namespace redlock::core {

/// One node as a survey saw it.
struct ObservedNode {
  /// The member that the node is (see with_member_names), or its URL without user and password if
  /// it is not a member.
  std::string name{};
  std::string address{};  ///< the URL that it was asked at, without user and password
  std::string problem{};  ///< why it cannot be written: no answer, a replica, …; empty: none
  std::string run_id{};
  NodeMemory memory{};
  std::chrono::microseconds clock{0};       ///< the time of the node's clock, since 1970
  std::string text{};                       ///< the marker as the node keeps it; empty: none
  std::optional<Marker> marker{};           ///< `text` parsed
  std::chrono::milliseconds quarantine{0};  ///< the rest of its quarantine; max(): it has no end
  std::string quarantine_why{};             ///< why the quarantine began, as the node keeps it: see
                                            ///< marker.hpp
  std::string primary{};  ///< a replicated node: the address of its server; empty: not known
  /// A replicated node whose reign does not stand: the least time until it does; max(): not known.
  std::chrono::milliseconds until_reign{0};
  bool durable = false;
  bool runs_scripts = true;  ///< an operator needs scripts to change members; some clients need
                             ///< none
};

/// The marker, provided that the server process that keeps it is the one that was marked.
[[nodiscard]] const Marker* fresh_marker(const ObservedNode& node) noexcept;

/// The marker, provided also that it names this node. Blank markers need not.
[[nodiscard]] const Marker* valid_marker(const ObservedNode& node) noexcept;

/// The nodes, named as the members name each other: clients may know a node by another URL. A node
/// that carries a marker gets the name that the marker says, unless another node was asked by that
/// name. Nodes named in `kept` or by a member's own URL keep their names.
[[nodiscard]] std::vector<ObservedNode> with_member_names(
    std::vector<ObservedNode> nodes, const std::vector<std::string>& kept = {});

[[nodiscard]] const ObservedNode* find_node(const std::vector<ObservedNode>& nodes,
                                            std::string_view name) noexcept;

/// Members that the survey has not seen although most nodes with a list name them: a single node
/// may be wrong.
[[nodiscard]] std::vector<std::string> unseen_members(const std::vector<ObservedNode>& nodes);

/// A deployment, as far as nodes carry its id and the members that most of them name.
struct Deployment {
  std::string id{};
  std::vector<std::string> members{};     ///< sorted
  std::vector<std::string> admissions{};  ///< the latest known one of each member: see marker.hpp
  std::chrono::milliseconds max_ttl{0};
  std::vector<std::string> active{};   ///< nodes that are active in it
  std::vector<std::string> joining{};  ///< nodes that are joining it
  std::vector<std::string> opening{};  ///< nodes that wait for the others to open it

  [[nodiscard]] bool has_member(std::string_view name) const noexcept;
  [[nodiscard]] bool is_carried_by(std::string_view name) const noexcept;
  /// The deployment by a marker, without a node of its own.
  [[nodiscard]] Marker list() const;
  /// Whether the marker belongs to this deployment, and its node still is the member that it names.
  [[nodiscard]] bool admits(const Marker& marker) const;
};

/// All deployments that a valid marker names.
[[nodiscard]] std::vector<Deployment> deployments_of(const std::vector<ObservedNode>& nodes);

/// Adds admissions that other markers know: nodes are taken back during a change of the members,
/// too. `others`: the deployments that the change begins from.
void join_admissions(Deployment& deployment, const std::vector<ObservedNode>& nodes,
                     const std::vector<Deployment>& others);

/// The deployments that are not over. A deployment is over if another one has taken all members
/// that are in both and carry either. A removed node still carries such an id.
[[nodiscard]] std::vector<Deployment> without_ended(const std::vector<Deployment>& deployments);

/// An operator's wish.
struct MemberWish {
  enum class Kind : std::uint8_t { replace, add, remove, bootstrap };

  Kind kind = Kind::replace;
  std::string leaving{};                 ///< replace, remove
  std::string entering{};                ///< replace, add
  std::vector<std::string> members{};    ///< bootstrap: the list; else: nodes to begin with
  std::chrono::milliseconds max_ttl{0};  ///< bootstrap
  /// The minimum length of a quarantine; zero: max TTL and its drift.
  std::chrono::milliseconds shortest_quarantine{0};
  bool after_loss = false;  ///< bootstrap: the nodes may have forgotten leases
};

/// The wish as a command: "members replace OLD NEW".
[[nodiscard]] std::string command_of(const MemberWish& wish);
[[nodiscard]] std::string members_command(std::string_view verb,
                                          const std::vector<std::string>& names);
/// For people: "a, b".
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);
/// The names as one word for a shell: "a,b".
[[nodiscard]] std::string shell_list(const std::vector<std::string>& names);

/// The members after the wish; sorted.
[[nodiscard]] std::vector<std::string> members_after(const std::vector<std::string>& members,
                                                     const MemberWish& wish);

/// The change that is under way and how to resume it; none: no change is.
[[nodiscard]] std::optional<MemberWish> change_under_way(const std::vector<ObservedNode>& nodes);

/// How far the change has come, which nodes lack it, and the commands that finish it and undo it.
/// `wish`: the change.
[[nodiscard]] std::string describe_unfinished(const std::vector<ObservedNode>& nodes,
                                              const MemberWish& wish);

/// The quarantine of a node that may have forgotten leases: max TTL and its drift, but no shorter
/// than the wish says. A change waits as long after the change before.
[[nodiscard]] std::chrono::milliseconds quarantine_for(std::chrono::milliseconds max_ttl,
                                                       const MemberWish& wish) noexcept;

}  // namespace redlock::core
