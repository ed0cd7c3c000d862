#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/marker.hpp"

/// What the markers of several nodes say together: which deployments there are, which of them are
/// over, and which change is under way.
namespace redlock::core {

/// What a survey saw of one node.
struct ObservedNode {
  /// The member that the node is: see with_member_names. If it is none: its URL without user and
  /// password.
  std::string name{};
  std::string address{};  ///< the URL that it was asked at, without user and password
  std::string problem{};  ///< why it cannot be written: no answer, a replica, …; empty: none
  std::string run_id{};
  std::string replid{};
  std::chrono::microseconds clock{0};       ///< its own, since 1970
  std::string text{};                       ///< the marker as the node keeps it; empty: none
  std::optional<Marker> marker{};           ///< `text` parsed
  std::chrono::milliseconds quarantine{0};  ///< what is left; max(): its end is missing
  std::string quarantine_why{};             ///< what began it, as it is kept: see marker.hpp
  bool durable = false;
  bool runs_scripts = true;  ///< without them an operator changes nothing; some clients need none
};

/// The marker, provided that the server process that keeps it is the one that was marked.
[[nodiscard]] const Marker* fresh_marker(const ObservedNode& node) noexcept;

/// The same, provided that it is about the node of this name. Blank markers need not name it.
[[nodiscard]] const Marker* valid_marker(const ObservedNode& node) noexcept;

/// Named as the members name each other: clients may know a node by another URL. A node that
/// carries a marker is the member that this one says, unless another node was asked by that name.
/// Those in `kept` stay as they are.
[[nodiscard]] std::vector<ObservedNode> with_member_names(
    std::vector<ObservedNode> nodes, const std::vector<std::string>& kept = {});

[[nodiscard]] const ObservedNode* find_node(const std::vector<ObservedNode>& nodes,
                                            std::string_view name) noexcept;

/// Members that the survey has not seen, and that most of the nodes with a list name: one of
/// several may say anything.
[[nodiscard]] std::vector<std::string> unseen_members(const std::vector<ObservedNode>& nodes);

/// A deployment, as far as nodes carry its id and the members that most of them name.
struct Deployment {
  std::string id{};
  std::vector<std::string> members{};     ///< sorted
  std::vector<std::string> admissions{};  ///< of each the latest that is known: see marker.hpp
  std::chrono::milliseconds max_ttl{0};
  std::vector<std::string> active{};   ///< nodes that are active in it
  std::vector<std::string> joining{};  ///< nodes that are joining it
  std::vector<std::string> opening{};  ///< nodes that wait for the others to open it

  [[nodiscard]] bool has_member(std::string_view name) const noexcept;
  [[nodiscard]] bool is_carried_by(std::string_view name) const noexcept;
  /// What a marker says of it, for a node that is nobody in particular.
  [[nodiscard]] Marker list() const;
  /// Whether the marker is of it, and the node is the one that is this member now.
  [[nodiscard]] bool admits(const Marker& marker) const;
};

/// All deployments that a valid marker names.
[[nodiscard]] std::vector<Deployment> deployments_of(const std::vector<ObservedNode>& nodes);

/// With what other markers know of its members: nodes are taken back while the members change, too.
/// `others` are the deployments that it is made of.
void join_admissions(Deployment& deployment, const std::vector<ObservedNode>& nodes,
                     const std::vector<Deployment>& others);

/// Without those that are over: another one has taken all members that both have and that carry
/// either. A removed node goes on carrying such an id.
[[nodiscard]] std::vector<Deployment> without_ended(const std::vector<Deployment>& deployments);

/// What an operator asks for.
struct MemberWish {
  enum class Kind : std::uint8_t { replace, add, remove, bootstrap };

  Kind kind = Kind::replace;
  std::string leaving{};                 ///< replace, remove
  std::string entering{};                ///< replace, add
  std::vector<std::string> members{};    ///< bootstrap: the list; else: nodes to begin with
  std::chrono::milliseconds max_ttl{0};  ///< bootstrap
  /// No quarantine is shorter. Zero: max TTL and its drift.
  std::chrono::milliseconds shortest_quarantine{0};
  bool after_loss = false;  ///< bootstrap: the nodes may have forgotten leases
};

/// As the command line says it: "members replace OLD NEW".
[[nodiscard]] std::string command_of(const MemberWish& wish);
[[nodiscard]] std::string members_command(std::string_view verb,
                                          const std::vector<std::string>& names);
/// For people: "a, b".
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);
/// Of nodes, as one word for a shell.
[[nodiscard]] std::string shell_list(const std::vector<std::string>& names);

/// The members after the wish; sorted.
[[nodiscard]] std::vector<std::string> members_after(const std::vector<std::string>& members,
                                                     const MemberWish& wish);

/// The change that is under way and how to resume it; none: no change is.
[[nodiscard]] std::optional<MemberWish> change_under_way(const std::vector<ObservedNode>& nodes);

/// How far the change has come, on which nodes it is missing, and the commands that finish it and
/// take it back. `wish`: what it is.
[[nodiscard]] std::string describe_unfinished(const std::vector<ObservedNode>& nodes,
                                              const MemberWish& wish);

/// How long a node may remember a lease of the deployment less than others do.
[[nodiscard]] std::chrono::milliseconds quarantine_for(std::chrono::milliseconds max_ttl,
                                                       const MemberWish& wish) noexcept;

}  // namespace redlock::core
