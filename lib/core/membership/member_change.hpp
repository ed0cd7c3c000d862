#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "core/membership/membership.hpp"

/// How an operator changes the members of a deployment, one compare-and-set at a time. The rules
/// are in tools/docs/design/membership.md.
namespace redlock::core {

/// Survey these nodes too; none: survey the same nodes again at once.
struct SurveyAgain {
  std::vector<std::string> nodes{};
};

/// Look for locks that expire within `longest` on all nodes, and report by searched().
struct SearchLocks {
  std::chrono::milliseconds longest{0};
};

/// One compare-and-set, by mark.lua.
struct WriteMarker {
  std::string node{};
  std::string expected{};  ///< the marker that must be there, word for word; empty: none
  Marker marker{};
  std::chrono::milliseconds quarantine{-1};  ///< begins now; 0 ends it, -1 leaves it
};

/// Survey again after `left`.
struct WaitFor {
  enum class Cause : std::uint8_t {
    age,         ///< the last change is too recent
    quarantine,  ///< the node still has no vote
    missing,     ///< the node does not answer or is ineligible
  };
  Cause cause = Cause::age;
  std::string node{};
  std::string why{};
  std::chrono::milliseconds left{0};  ///< zero: unknown
};

struct ChangeDone {
  std::string deployment{};
  std::vector<std::string> members{};
  std::string left{};  ///< bootstrap: why the node `left_on` stays in quarantine; empty: none does
  std::string left_on{};
};

struct ChangeRefused {
  enum class Reason : std::uint8_t {
    wish,   ///< the wish makes no sense: wrong usage
    state,  ///< the markers do not allow it
    held,   ///< there are locks
  };
  Reason reason = Reason::state;
  std::string why{};
  std::string remedy{};
};

using MemberStep =
    std::variant<SurveyAgain, SearchLocks, WriteMarker, WaitFor, ChangeDone, ChangeRefused>;

struct ChangeScene;

/// One run of an operator's change. The caller surveys the nodes, and each survey yields the next
/// step. Everything that another run needs to go on is in the markers.
class MemberChange {
 public:
  /// `random`: a word that no other run has drawn, for the id of a new deployment.
  MemberChange(MemberWish wish, std::string random);

  /// `incarnation`: for the marker that the step writes, if it writes one; never the same twice.
  [[nodiscard]] MemberStep next(const std::vector<ObservedNode>& nodes, std::string incarnation);

  /// A compare-and-set has written this text to the node. If a compare-and-set fails, the next
  /// survey shows why.
  void wrote(const std::string& node, std::string text);

  /// The result of the search for locks: a lock that is held, or why the search failed; both empty:
  /// there are no locks.
  void searched(std::string held, std::string failed);

  /// Whether nodes carry markers of the change: giving up leaves it half done.
  [[nodiscard]] bool is_under_way() const noexcept { return under_way_; }

 private:
  [[nodiscard]] MemberStep change(const ChangeScene& scene);
  [[nodiscard]] MemberStep begin(const ChangeScene& scene);
  [[nodiscard]] MemberStep go_on(const ChangeScene& scene, const Deployment& begun);
  [[nodiscard]] MemberStep finish(const ChangeScene& scene, const Deployment& target);
  [[nodiscard]] std::optional<MemberStep> refuse_other_name(const ChangeScene& scene) const;
  [[nodiscard]] std::optional<MemberStep> refuse_wish(const ChangeScene& scene,
                                                      const Deployment& from) const;
  [[nodiscard]] std::optional<MemberStep> await_calm(const ChangeScene& scene,
                                                     const Deployment& from);
  [[nodiscard]] std::optional<MemberStep> await_member(const ChangeScene& scene,
                                                       const Deployment& from,
                                                       const std::string& name);
  [[nodiscard]] std::optional<MemberStep> await_age(const ChangeScene& scene,
                                                    const Deployment& from) const;
  [[nodiscard]] std::optional<MemberStep> enter(const ChangeScene& scene,
                                                const Deployment& target) const;
  [[nodiscard]] std::optional<MemberStep> pass(const ChangeScene& scene, const Deployment& target);
  [[nodiscard]] MemberStep take_back(const ChangeScene& scene, const Deployment& deployment,
                                     const std::string& name);
  [[nodiscard]] bool verify(const ChangeScene& scene, const std::vector<std::string>& names);

  [[nodiscard]] MemberStep open(const ChangeScene& scene);
  [[nodiscard]] MemberStep search(const ChangeScene& scene) const;
  [[nodiscard]] MemberStep vouch(const ChangeScene& scene, const Deployment& deployment);
  void note_former_names(const ChangeScene& scene);
  [[nodiscard]] bool may_be_any_member(const ObservedNode& node, const Marker& marker) const;
  [[nodiscard]] std::size_t count_left_out(const ChangeScene& scene, const Marker& marker) const;
  [[nodiscard]] std::optional<MemberStep> refuse_list(const ChangeScene& scene) const;
  [[nodiscard]] std::optional<MemberStep> refuse_marker(const ChangeScene& scene,
                                                        const ObservedNode& node) const;
  void note_ids(const ChangeScene& scene);
  [[nodiscard]] Deployment deployment_to_open(const ChangeScene& scene) const;
  [[nodiscard]] MemberStep open_as(const ChangeScene& scene, const Deployment& target);

  const MemberWish wish_;
  const std::string random_;
  /// By node, the marker that this run wrote or saw last: see verify().
  std::map<std::string, std::string> seen_;
  bool under_way_ = false;

  // bootstrap
  bool searched_ = false;
  std::string held_;
  std::string search_failed_;
  bool had_id_ = false;                   // there may be leases: see note_ids()
  std::chrono::milliseconds longest_{0};  // the longest max TTL of any marker
  std::vector<std::string> activated_;
  /// A node, a deployment and the member of it that the node was by its marker, before this run
  /// overwrote it.
  std::set<std::tuple<std::string, std::string, std::string>> former_names_;
};

}  // namespace redlock::core
