#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::bench {

/// Latencies in a log-linear histogram after the idea of HDR: linear below 2,048 ns, 1,024 steps
/// per power of two above, so a reading is off by less than 0.1 %. Memory is fixed (240 KB) and
/// `record` costs a shift and an increment: measuring must not weigh on what is measured.
/// Longer durations than `trackable()` are counted in the last bucket; `max` stays exact.
class Histogram {
 public:
  struct Bucket {
    std::chrono::nanoseconds lowest;
    std::chrono::nanoseconds highest;
    std::uint64_t count;
  };

  Histogram();

  void record(std::chrono::nanoseconds duration) noexcept;
  void merge(const Histogram& other) noexcept;
  void clear() noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::chrono::nanoseconds min() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds max() const noexcept;
  [[nodiscard]] std::chrono::nanoseconds mean() const noexcept;

  /// The smallest recorded duration (to the precision above, rounded up) that `percent` percent of
  /// all records do not exceed; zero of an empty histogram. `percent` is clamped to 0…100.
  [[nodiscard]] std::chrono::nanoseconds percentile(double percent) const noexcept;

  /// The buckets that are not empty, shortest first: for a plot.
  [[nodiscard]] std::vector<Bucket> buckets() const;

  [[nodiscard]] static std::chrono::nanoseconds trackable() noexcept;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace redlock::bench
