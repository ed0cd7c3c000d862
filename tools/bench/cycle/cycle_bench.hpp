#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/measure/cycle_result.hpp"
#include "bench/measure/histogram.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {

/// The calls of a run that failed.
struct CycleFailures {
  bench::Histogram unavailable{};        ///< how long the first unavailable call of each lane took
  bench::Histogram still_unavailable{};  ///< how long the later ones took
  std::string first{};                   ///< the message of the first failure of any kind
};

/// One run of lock cycles through the library.
struct CycleLoad {
  ClientOptions options{};
  bool fencing = false;
  std::size_t in_flight = 1;
  std::chrono::nanoseconds duration{0};
  std::string resource_prefix{};
  const std::atomic<int>* stop = nullptr;  ///< not zero: end early
  bench::NodeCpu node_cpu{};

  // For the asynchronous interface only:
  /// The lock of one cycle, by the resource of the lock in flight and the cycle's number. None: the
  /// exclusive lock on that resource.
  std::function<Target(const std::string& resource, std::uint64_t cycle)> target{};
  /// Called on the loop as the measurement begins. Locks that are in flight then count too.
  std::function<void()> at_start{};
  bool wait_for_nodes = false;  ///< the measurement begins once all of them are up
  CycleFailures* failures = nullptr;
};

/// Both functions first run for a while without measuring, so that connecting and the first
/// allocations do not count. Each lock in flight has a resource of its own.
[[nodiscard]] bench::CycleOutcome run_async_cycles(const CycleLoad& load);
[[nodiscard]] bench::CycleOutcome run_blocking_cycles(const CycleLoad& load);

/// How long a run lasts before it is measured.
[[nodiscard]] constexpr std::chrono::nanoseconds warm_up_of(
    std::chrono::nanoseconds duration) noexcept {
  const std::chrono::nanoseconds longest = std::chrono::milliseconds{200};
  return duration / 10 < longest ? duration / 10 : longest;
}

}  // namespace redlock::cli
