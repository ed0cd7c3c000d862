#pragma once

#include <optional>

#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// By how much a node's clock has gained on ours, the drift that every validity allows for left
/// out: between the two.
struct Gain {
  Duration least{};
  Duration most{};

  [[nodiscard]] bool has(Duration gain) const noexcept { return least <= gain && gain <= most; }
  /// Of two spans of time that follow each other.
  friend Gain operator+(const Gain& a, const Gain& b) noexcept {
    return {a.least + b.least, a.most + b.most};
  }
};

/// One node's wall clock as seen from ours: keys expire by it. What matters is not what it shows
/// but how it moves: a key lives too short by as much as the clock gains while it lives.
class NodeClock {
 public:
  /// No key lives longer than `longest_ttl`, so a larger step counts as one of that size.
  explicit NodeClock(Duration longest_ttl = limits::longest_max_ttl) : most_(longest_ttl) {}

  struct Reading {
    /// By how much it has stepped forward since the sample before: zero, unless it gained more than
    /// the uncertainty of both samples and the drift that every validity allows for; then the most
    /// it can be.
    Duration step{};
    Gain gain{};  ///< by how much it gained, even within that uncertainty
  };
  /// The node's clock was `time` somewhere between the two instants.
  Reading observe(Instant sent, Instant received, Duration time) noexcept;

  /// Our clock stood still by `ours`: keys that were set at the node until now live shorter by as
  /// much. `read_since`: the last sample was taken after that. Otherwise all samples are from
  /// before, and this clock is assumed to have advanced by as much.
  void ours_stood_still(const Gain& ours, bool read_since) noexcept;

  /// Keys may have gone without a step: what was set until now is worth nothing.
  void lose_keys() noexcept { count(most_); }

  /// The node's clock less ours; none before the first sample, nor before the first since ours
  /// stood still. It only has a meaning in comparison.
  [[nodiscard]] std::optional<Duration> offset() const noexcept;

  /// The least that the clock shows now; none if offset() is none.
  [[nodiscard]] std::optional<Duration> at_least(Instant now) const noexcept;

  /// All steps so far: what a key that was set at one value of it has lost at another.
  [[nodiscard]] Duration stepped() const noexcept { return stepped_; }
  /// The value of `stepped` from which on it cannot count any more: the node is trusted with no
  /// key.
  static constexpr Duration uncountable = Duration::max();

 private:
  struct Sample {
    Duration offset{};
    Duration error{};
    Instant at{};
  };
  struct Comparison {
    bool forward = false;
    bool backward = false;
    Duration most{};  ///< that it can have gained, drift included
    Gain gain{};
  };
  [[nodiscard]] static Comparison compare(const Sample& sample, const Sample& with) noexcept;
  void count(Duration step) noexcept;

  Duration most_;
  std::optional<Sample> anchor_;  // what the next ones are compared with
  /// And the sharpest of the time that a key may live: a clock that gains less within a second than
  /// the readings are uncertain may gain too much all the same.
  std::optional<Sample> sharpest_;
  Sample latest_{};
  bool estimated_ = false;  ///< ours stood still, and it was not read since
  Duration stepped_{};
};

}  // namespace redlock::core
