#pragma once

#include <optional>

#include "core/time.hpp"
#include "redlock/limits.hpp"

namespace redlock::core {

/// One node's wall clock as seen from ours: keys expire by it. What matters is not what it shows
/// but how it moves: a key lives too short by as much as the clock gains while it lives.
class NodeClock {
 public:
  /// No key lives longer than `longest_ttl`, so a larger step counts as one of that size.
  explicit NodeClock(Duration longest_ttl = limits::longest_max_ttl) : most_(longest_ttl) {}

  /// The node's clock was `time` somewhere between the two instants. Answers by how much it has
  /// stepped forward since the sample before: zero, unless it gained more than the uncertainty of
  /// both samples and the drift that every validity allows for; then the most it can be.
  Duration observe(Instant sent, Instant received, Duration time) noexcept;

  /// Keys may have gone without a step: what was set until now is worth nothing.
  void lose_keys() noexcept { count(most_); }

  /// The node's clock less ours; none before the first sample. It only has a meaning in comparison.
  [[nodiscard]] std::optional<Duration> offset() const noexcept;

  /// What the clock shows at least by now; none before the first sample.
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
    Duration most{};  ///< that it can have gained
  };
  [[nodiscard]] static Comparison compare(const Sample& sample, const Sample& with) noexcept;
  void count(Duration step) noexcept;

  Duration most_;
  std::optional<Sample> anchor_;  // what the next ones are compared with
  /// And the sharpest of the time that a key may live: a clock that gains less within a second than
  /// the readings are uncertain may gain too much all the same.
  std::optional<Sample> sharpest_;
  Sample latest_{};
  Duration stepped_{};
};

}  // namespace redlock::core
