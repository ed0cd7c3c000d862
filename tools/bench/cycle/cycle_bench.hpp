#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/measure/cycle_result.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {

/// One run of lock cycles through the library.
struct CycleLoad {
  ClientOptions options{};
  bool fencing = false;
  std::size_t in_flight = 1;
  std::chrono::nanoseconds warm_up{0};  ///< how long it lasts before it is measured
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
};

/// Both functions first run for a while without measuring, so that connecting and the first
/// allocations do not count. Each lock in flight has a resource of its own.
[[nodiscard]] bench::CycleOutcome run_async_cycles(const CycleLoad& load);
[[nodiscard]] bench::CycleOutcome run_blocking_cycles(const CycleLoad& load);

}  // namespace redlock::cli
