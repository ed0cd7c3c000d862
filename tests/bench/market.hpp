#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>

#include "bench/measure/cycle_result.hpp"
#include "bench/measure/histogram.hpp"

namespace redlock::bench {

/// The game market of "Redis in Action": sellers list items, buyers buy them, and an item, its
/// seller and its buyer must change together. The methods that keep them consistent are compared.
enum class MarketMethod {
  watch,          ///< WATCH, MULTI, EXEC, and again after a concurrent change
  coarse_lock,    ///< one lock for the whole market
  lock_per_item,  ///< a lock for each item
};

[[nodiscard]] std::string_view to_string(MarketMethod method) noexcept;

/// Acquires the lock, and returns a function that releases it; null: the lock was not acquired in
/// time. For one thread.
using MarketLock = std::function<std::function<void()>(const std::string& resource)>;

struct MarketSettings {
  Endpoint data{};  ///< the server that has the market; it is emptied first
  MarketMethod method = MarketMethod::watch;
  std::size_t sellers = 1;
  std::size_t buyers = 1;
  std::chrono::nanoseconds duration{0};
  const std::atomic<int>* stop = nullptr;  ///< not zero: end early
  /// A client for one seller or buyer: each has its own, as a process has. Called before the time
  /// runs. Not called for `watch`.
  std::function<MarketLock()> connect{};
};

struct MarketResult {
  std::uint64_t listed = 0;
  std::uint64_t bought = 0;
  std::uint64_t retries = 0;  ///< attempts that failed: another was quicker, or no lock came
  std::uint64_t gone = 0;     ///< purchases that found the item sold, after it had been on offer
  std::chrono::nanoseconds elapsed{0};
  Histogram purchase;
  /// Why the data on the server are inconsistent in the end: an item was sold twice or lost, or
  /// money was made.
  std::string wrong{};
};

/// The figures, or the sentence that says why there are none.
[[nodiscard]] std::variant<MarketResult, std::string> run_market(const MarketSettings& settings);

}  // namespace redlock::bench
