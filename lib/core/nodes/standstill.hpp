#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/nodes/node_clock.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// Decides, when a node's clock stepped forward, whether that clock leapt or ours stood still with
/// the whole machine. Only the clocks of the other nodes decide that: only a minority leaps, but
/// all clocks step together when ours stands still.
///
/// A machine can stand still again before it is known whose clock it was. A node that was read in
/// between has then shown less than one that is read afterwards. So a clock is blamed only beside
/// readings of the others that were asked for after the last step.
class Standstill {
 public:
  /// `bound`: steps that differ by at most this much count as equal, as clocks do in first contact:
  /// a client measured nothing while it stood still.
  explicit Standstill(Duration bound) : bound_(bound) {}

  /// Whether a step was noticed, and it is still unknown whose clock it was.
  [[nodiscard]] bool open() const noexcept { return opened_at_.has_value(); }
  void close() noexcept;

  void stepped(NodeIndex node, const NodeClock::Reading& reading, Instant now) noexcept;
  /// A clock was read that has not stepped since the reading before.
  void read(NodeIndex node, const NodeClock::Reading& reading, Instant sent) noexcept;

  enum class Cause : std::uint8_t { unknown, ours, theirs };
  struct Verdict {
    Cause cause = Cause::unknown;
    NodeSet alike{};     ///< nodes whose steps may have the same cause
    Gain ours{};         ///< the gain that these steps have in common
    bool stale = false;  ///< unknown, because the nodes must be asked again after the last step
  };
  /// `ours` if `needed` of the members that are `up` agree and none contradicts. Unknown while
  /// fewer than `needed` are up, unless there are fewer `nodes` than that.
  [[nodiscard]] Verdict judge(NodeSet up, std::size_t needed, std::size_t nodes) const noexcept;

  /// Nodes whose clocks stepped.
  [[nodiscard]] NodeSet steps() const noexcept { return stepped_; }
  /// The largest possible step of the node's clock.
  [[nodiscard]] Duration step_of(NodeIndex node) const noexcept { return steps_[node]; }
  /// When the last step was noticed.
  [[nodiscard]] Instant last_step() const noexcept { return last_step_; }
  /// Nodes that were asked after the first step, and have answered.
  [[nodiscard]] NodeSet asked_since() const noexcept { return asked_since_; }
  /// The node's clock stepped by more than ours stood still: the rest is its own leap.
  [[nodiscard]] bool leapt_too(NodeIndex node, const Gain& ours) const noexcept {
    return stepped_.has(node) && gain_of(node).least > ours.most;
  }
  /// The part of our standstill that this clock has not shown yet. None: it has shown all of it.
  [[nodiscard]] std::optional<Gain> not_shown(NodeIndex node, const Gain& ours) const noexcept;

 private:
  /// The gain of the node's clock; that of a clock that stepped includes its drift while ours stood
  /// still.
  [[nodiscard]] Gain gain_of(NodeIndex node) const noexcept;
  [[nodiscard]] NodeSet with(Duration gain, NodeSet nodes) const noexcept;

  Duration bound_;
  std::optional<Instant> opened_at_;  ///< when the first step was noticed
  Instant last_step_ = Instant::min();
  NodeSet stepped_;
  NodeSet asked_since_;
  NodeSet fresh_;  ///< nodes that were asked after the last step, and have answered
  std::array<Gain, limits::nodes> gains_{};  ///< by node, since the reading before the first step
  std::array<Duration, limits::nodes> steps_{};
};

}  // namespace redlock::core
