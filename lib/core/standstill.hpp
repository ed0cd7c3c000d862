#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/node_clock.hpp"
#include "core/node_set.hpp"
#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// A node's clock stepped forward on ours: did it leap, or did ours stand still, because the whole
/// machine did? Only the other nodes can tell, when they have been read as well. Leaps are of a
/// minority; when our clock stands still, all others go on alike.
class Standstill {
 public:
  /// `bound`: a client in its first contact takes clocks that are this far apart for alike, and one
  /// that stood still knows as little of what happened meanwhile.
  explicit Standstill(Duration bound) : bound_(bound) {}

  /// From the first step that is noticed until it is known whose it was.
  [[nodiscard]] bool open() const noexcept { return opened_at_.has_value(); }
  void close() noexcept;

  void stepped(NodeIndex node, const NodeClock::Reading& reading, Instant now) noexcept;
  /// A clock was read that has not stepped since the reading before.
  void read(NodeIndex node, const NodeClock::Reading& reading, Instant sent) noexcept;

  enum class Cause : std::uint8_t { unknown, ours, theirs };
  struct Verdict {
    Cause cause = Cause::unknown;
    NodeSet alike{};  ///< whose steps may be one and the same
    Gain ours{};      ///< which it was, then
  };
  /// Of the members that are `up`, `needed` have to agree, and none may say otherwise. That of
  /// `nodes` there are so few is no verdict while more may come.
  [[nodiscard]] Verdict judge(NodeSet up, std::size_t needed, std::size_t nodes) const noexcept;

  /// Those that stepped.
  [[nodiscard]] NodeSet steps() const noexcept { return stepped_; }
  /// By how much, at most.
  [[nodiscard]] Duration step_of(NodeIndex node) const noexcept { return steps_[node]; }
  /// Those that were asked after the first step was noticed, and have answered.
  [[nodiscard]] NodeSet asked_since() const noexcept { return asked_since_; }
  /// Stepped by more than we stood still: the rest is its own.
  [[nodiscard]] bool leapt_too(NodeIndex node, const Gain& ours) const noexcept {
    return stepped_.has(node) && gain_of(node).least > ours.most;
  }

 private:
  /// Clocks drift while ours stands still, too.
  [[nodiscard]] Gain gain_of(NodeIndex node) const noexcept;
  [[nodiscard]] NodeSet with(Duration gain, NodeSet nodes) const noexcept;

  Duration bound_;
  std::optional<Instant> opened_at_;
  NodeSet stepped_;
  NodeSet asked_since_;
  std::array<Gain, limits::nodes> gains_{};  ///< since the reading before the first step
  std::array<Duration, limits::nodes> steps_{};
};

}  // namespace redlock::core
