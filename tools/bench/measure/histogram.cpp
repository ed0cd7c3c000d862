#include "bench/measure/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace redlock::bench {
namespace {

constexpr unsigned step_bits = 10;
constexpr unsigned trackable_bits = 39;  // 2^39 ns are nine minutes
constexpr std::uint64_t steps = std::uint64_t{1} << step_bits;
constexpr std::uint64_t largest = (std::uint64_t{1} << trackable_bits) - 1;

constexpr std::size_t index_of(std::uint64_t value) noexcept {
  if (value < 2 * steps) return value;
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - step_bits - 1;
  return (std::size_t{shift} << step_bits) + (value >> shift);
}

constexpr unsigned shift_of(std::size_t index) noexcept {
  return index < 2 * steps ? 0U : static_cast<unsigned>(index >> step_bits) - 1;
}

constexpr std::uint64_t lowest_of(std::size_t index) noexcept {
  const unsigned shift = shift_of(index);
  return (index - (std::size_t{shift} << step_bits)) << shift;
}

constexpr std::uint64_t highest_of(std::size_t index) noexcept {
  return lowest_of(index) + (std::uint64_t{1} << shift_of(index)) - 1;
}

constexpr std::size_t bucket_count = index_of(largest) + 1;

static_assert(lowest_of(index_of(2 * steps)) == 2 * steps);
static_assert(highest_of(bucket_count - 1) == largest);

constexpr std::chrono::nanoseconds to_duration(std::uint64_t value) noexcept {
  return std::chrono::nanoseconds{static_cast<std::int64_t>(value)};
}

}  // namespace

Histogram::Histogram() : counts_(bucket_count) {}

void Histogram::record(std::chrono::nanoseconds duration) noexcept {
  const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  ++counts_[index_of(std::min(value, largest))];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < bucket_count; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

std::chrono::nanoseconds Histogram::min() const noexcept {
  return to_duration(count_ == 0 ? 0 : min_);
}

std::chrono::nanoseconds Histogram::max() const noexcept { return to_duration(max_); }

std::chrono::nanoseconds Histogram::percentile(double percent) const noexcept {
  if (count_ == 0) return {};
  const double share = std::clamp(percent, 0.0, 100.0) / 100.0;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  if (wanted == 0) return min();
  if (wanted >= count_) return max();
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return to_duration(std::clamp(highest_of(i), min_, max_));
  }
  return max();
}

}  // namespace redlock::bench
