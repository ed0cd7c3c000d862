#pragma once

#include <optional>

#include "core/vocabulary/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// The gain of a node's clock on ours, without the drift that every validity allows for: between
/// `least` and `most`.
struct Gain {
  Duration least{};
  Duration most{};

  [[nodiscard]] bool has(Duration gain) const noexcept { return least <= gain && gain <= most; }
  /// The gain of two successive spans of time.
  friend Gain operator+(const Gain& a, const Gain& b) noexcept {
    return {a.least + b.least, a.most + b.most};
  }
};

/// One node's wall clock, by which its keys expire, as seen from our clock. Only its movement
/// matters, not its time: what the clock gains while a key lives shortens the life of the key.
class NodeClock {
 public:
  /// No key lives longer than `longest_ttl`, so a larger step counts as one of that size.
  explicit NodeClock(Duration longest_ttl = limits::longest_max_ttl) : most_(longest_ttl) {}

  struct Reading {
    /// The step forward since the sample before. Zero, unless the clock gained more than the
    /// uncertainty of both samples and the drift that every validity allows for; otherwise the
    /// largest possible step.
    Duration step{};
    Gain gain{};  ///< the gain, even within that uncertainty
  };
  /// The node's clock was `time` somewhere between the two instants.
  Reading observe(Instant sent, Instant received, Duration time) noexcept;

  /// Our clock stood still for `ours`: keys that were set at the node until now live shorter by
  /// this amount. `read_since`: the last sample was taken afterwards; otherwise the node's clock is
  /// assumed to have advanced by the same amount.
  void ours_stood_still(const Gain& ours, bool read_since) noexcept;

  /// Keys may have been lost without a step: keys that were set until now do not count.
  void lose_keys() noexcept { count(most_); }

  /// The node's clock less ours. None: no sample was taken, or none since our clock stood still.
  /// Only a difference between two offsets has a meaning.
  [[nodiscard]] std::optional<Duration> offset() const noexcept;

  /// The least that the clock shows now; none if offset() is none.
  [[nodiscard]] std::optional<Duration> at_least(Instant now) const noexcept;

  /// The sum of all steps. The difference between two values is the time that a key has lost in
  /// between.
  [[nodiscard]] Duration stepped() const noexcept { return stepped_; }

 private:
  struct Sample {
    Duration offset{};
    Duration error{};
    Instant at{};
  };
  struct Comparison {
    bool forward = false;
    bool backward = false;
    Duration most{};  ///< the largest possible gain, drift included
    Gain gain{};
  };
  [[nodiscard]] static Comparison compare(const Sample& sample, const Sample& with) noexcept;
  void count(Duration step) noexcept;

  Duration most_;
  std::optional<Sample> anchor_;  // the sample that later samples are compared with
  /// The sharpest sample within the time that a key may live: a clock that gains less per second
  /// than the readings are uncertain may still gain too much.
  std::optional<Sample> sharpest_;
  Sample latest_{};
  bool estimated_ = false;  ///< our clock stood still, and the node's clock was not read since
  Duration stepped_{};
};

}  // namespace redlock::core
