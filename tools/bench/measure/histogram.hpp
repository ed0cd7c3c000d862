#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::bench {

/// Latencies in a log-linear histogram after the idea of HDR: linear below 2,048 ns, 1,024 steps
/// per power of two above, so a reading is off by less than 0.1 %. Memory is fixed (240 KB) and
/// `record` costs a shift and an increment: measuring must not weigh on what is measured.
/// Durations of more than nine minutes are counted in the last bucket; `max` stays exact.
class Histogram {
 public:
  Histogram();

  void record(std::chrono::nanoseconds duration) noexcept;
  void merge(const Histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::chrono::nanoseconds min() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds max() const noexcept;

  /// The smallest recorded duration (to the precision above, rounded up) that `percent` percent of
  /// all records do not exceed; zero of an empty histogram. `percent` is clamped to 0…100.
  [[nodiscard]] std::chrono::nanoseconds percentile(double percent) const noexcept;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
};

}  // namespace redlock::bench
