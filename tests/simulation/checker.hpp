#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/clock.hpp"

namespace redlock::simulation {

/// Checks from outside, in true time, whether the promises are kept. It keeps the first broken
/// promise as a sentence that begins with its number in ARCHITECTURE.md, *Invariants*.
class Checker {
 public:
  Checker(std::size_t nodes, std::size_t quorum) : nodes_(nodes), quorum_(quorum) {}

  void violated(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }
  [[nodiscard]] const std::string& violation() const { return violation_; }

  // --- leases (invariants 1, 3 and 6) ---
  /// Intervals must be kept: no clock is wrong by more than `ppm`, and no node forgets without
  /// being seen by the guard.
  void expect_intervals(std::int64_t ppm) { interval_ppm_ = ppm; }
  /// `until` is the true moment at which the holder's own clock shows the deadline.
  /// `began` is when the attempt sent its first request.
  struct Grant {
    std::uint64_t token = 0;
    std::uint64_t resources = 0;  ///< a bit for each
    std::uint64_t group = 0;      ///< the group whose members may hold it at the same time; 0: none
    True at_least = 0;  ///< an interval: how long nobody else may be granted the resources
    True began = 0;
    True now = 0;
    True until = 0;
  };
  void granted(const Grant& grant);
  /// An operator begins to break the lock on a resource. Its holder may know nothing of that, and
  /// can be next to other holders of this resource from `until` on.
  void broken(std::uint64_t token, std::uint64_t resource, True until);
  /// Whether nothing keeps others from these resources any longer, because an operator broke the
  /// lock on them.
  [[nodiscard]] bool is_broken(std::uint64_t token, std::uint64_t resources, True now);
  /// The break was answered: nobody gets the resource before `until` by an attempt that begins from
  /// now on, whoever asks.
  void kept_out(std::uint64_t resource, True now, True until) {
    ++delays_;
    kept_out_.push_back({resource, now, until});
  }
  void extended(std::uint64_t token, True now, True until);
  /// A downgrade of a writer's lease was requested: from then on it is a reader's, whatever the
  /// nodes answer.
  void downgraded(std::uint64_t token, True now);
  /// The holder gave the lease back or handed it on, and no longer acts on it.
  void ended(std::uint64_t token, True now);
  /// A node's clock has stepped, and the holder was given an earlier deadline.
  void lowered(std::uint64_t token, True now, True until);
  void lost(std::uint64_t token, True now);

  // --- clocks that step ---
  /// Leases can overlap only within `window` after a node's clock stepped forward. `check_overlaps`
  /// judges this at the end of a run, when the end of each lease is known.
  void allow_overlap_after_steps(True window) { overlap_window_ = window; }
  /// Leases can overlap only if the later one began within `window` after a node's clock stepped
  /// forward. This rule includes leases that were handed on, for which no client reads clocks.
  void allow_votes_after_steps(True window) { vote_window_ = window; }
  void clock_stepped_forward(True now) { steps_.push_back(now); }
  /// A client's machine and its clock stood still from `from` to `until`. Leases can overlap as if
  /// the clocks of nodes stepped during all of that time, because the client noticed none of it.
  void stood_still(True from, True until);
  void check_overlaps();
  /// Leases can overlap at any time. A fencing token is only above those of the leases that were
  /// granted before its attempt began.
  void expect_any_clocks() { any_clocks_ = true; }

  // --- fencing tokens (invariant 2) ---
  void fenced(std::size_t resource, std::uint64_t number, True began, True now);
  /// A fenced lease was adopted: its number is the one that was handed on, or a larger one.
  void adopted_number(std::size_t resource, std::uint64_t handed_on, std::uint64_t number,
                      True now);

  // --- what is left on the nodes (invariant 4) ---
  /// A lease was handed to another process, or left by a process that died: only its expiry ends
  /// it.
  void abandoned(std::uint64_t token, True now);
  /// A lease that was abandoned has an owner again.
  void adopted(const Grant& grant);
  [[nodiscard]] bool was_adopted(std::uint64_t token) { return trail(token).adopted; }
  /// A node came back with saved data: the key may be there after its release.
  void restored(std::uint64_t token) { trail(token).restored = true; }
  /// A key was left by a process that died before it was granted anything: only its expiry ends it.
  void left(std::uint64_t token) { trail(token).abandoned = true; }
  /// A client closed and did not report a key that it left on the node. The key of an interval that
  /// goes on keeps others out as long as its release would have.
  void closed(std::uint64_t token, std::size_t node, bool there, True now);
  /// A client closed and reported a key on the node; `still_there`: the key is there after the time
  /// that the client named.
  void closed_with_a_word(std::uint64_t token, std::size_t node, bool still_there);
  /// All requests have ended, and this token has the key; 0: nobody has it.
  void found_at_the_end(std::uint64_t token);
  /// The deployment was opened as new: earlier intervals no longer count.
  void opened_as_new() { taken_until_.clear(); }
  /// Bits for the nodes that executed the release of the last interval granted on a resource.
  [[nodiscard]] std::uint32_t interval_released_on(std::size_t resource);
  [[nodiscard]] bool was_granted(std::uint64_t token) { return trail(token).granted; }
  void key_written(std::uint64_t token, std::size_t node);
  void release_executed(std::uint64_t token, std::size_t node);
  void release_answered(std::uint64_t token, std::size_t still_there);

  [[nodiscard]] std::uint64_t grants() const { return grants_; }
  [[nodiscard]] std::uint64_t losses() const { return losses_; }
  [[nodiscard]] std::uint64_t delays() const { return delays_; }
  [[nodiscard]] std::uint64_t downgrades() const { return downgrades_; }
  [[nodiscard]] std::uint64_t adoptions() const { return adoptions_; }
  /// Grants, by the group of the lease.
  [[nodiscard]] const std::array<std::uint64_t, 4>& grants_by_group() const { return by_group_; }
  [[nodiscard]] std::size_t tokens_heard_of() const { return heard_of_; }
  [[nodiscard]] std::size_t tokens_remembered() const {
    return tokens_.size() + older_tokens_.size();
  }

 private:
  struct Lease {
    std::uint64_t token;
    std::uint64_t resources;
    std::uint64_t group;
    True until;
    True from;
    True began;
  };
  struct Trail {
    bool granted = false;
    bool abandoned = false;
    bool adopted = false;  ///< it was adopted after it was abandoned
    bool ended = false;
    bool restored = false;
    True taken_until = 0;           // when the lease's interval ends
    std::uint64_t broken = 0;       // resources on which an operator broke the lock
    True broken_until = never;      // when nothing keeps others out of these any longer
    std::uint32_t released_on = 0;  // a bit per node that executed a release
    std::uint32_t back_on = 0;      // of these, nodes on which a former owner set the key again
  };
  using Trails = std::map<std::uint64_t, Trail>;
  struct Numbered {
    True at;
    std::uint64_t highest;  // the highest number granted until then
  };
  [[nodiscard]] Trail& trail(std::uint64_t token);
  void forget_old_tokens(True now);
  [[nodiscard]] bool judged_at_the_end() const { return overlap_window_ + vote_window_ > 0; }
  [[nodiscard]] bool a_step_explains(const Lease& later, True until) const;
  void archive(std::uint64_t token, True now);
  /// Whether the two leases must not be valid at once.
  [[nodiscard]] static bool exclude_each_other(const Lease& a, const Lease& b) {
    if (a.token == b.token || (a.resources & b.resources) == 0) return false;
    return a.group == 0 || a.group != b.group;
  }
  /// The invariant that the two leases break if both are valid: holds have their own invariant.
  [[nodiscard]] static std::string rule_of(const Lease& a, const Lease& b);
  void check_interval(const Grant& grant);
  void check_alone(const Lease& lease, True now);
  [[nodiscard]] Lease* find(std::uint64_t token);

  std::size_t nodes_;
  std::size_t quorum_;
  struct KeptOut {
    std::uint64_t resource;
    True since;
    True until;
  };
  std::vector<KeptOut> kept_out_;
  std::vector<Lease> leases_;
  std::vector<Lease> past_;  // only if overlaps are judged at the end
  std::vector<True> steps_;
  True overlap_window_ = 0;
  True vote_window_ = 0;
  bool any_clocks_ = false;
  std::int64_t interval_ppm_ = -1;
  Trails tokens_;        // tokens heard of since older ones were last forgotten
  Trails older_tokens_;  // tokens not heard of since then: the next to be forgotten
  True forget_at_ = 0;
  std::size_t heard_of_ = 0;
  std::map<std::size_t, std::vector<Numbered>> numbered_;  // by resource
  std::set<std::pair<std::size_t, std::uint64_t>> numbers_;
  std::map<std::uint64_t, std::uint64_t> last_interval_;  // the last interval's token, by resources
  std::map<std::uint64_t, True> taken_until_;  // the end of the last interval, by resources
  std::uint64_t grants_ = 0;
  std::array<std::uint64_t, 4> by_group_{};
  std::uint64_t losses_ = 0;
  std::uint64_t delays_ = 0;
  std::uint64_t downgrades_ = 0;
  std::uint64_t adoptions_ = 0;
  std::string violation_;
};

}  // namespace redlock::simulation
