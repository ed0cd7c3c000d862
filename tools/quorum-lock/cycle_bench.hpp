#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

#include "bench/cycle_result.hpp"
#include "redlock/options.hpp"

namespace redlock::cli {

/// One run of lock cycles through the library.
struct CycleLoad {
  ClientOptions options{};
  bool fencing = false;
  std::size_t in_flight = 1;
  std::chrono::nanoseconds duration{0};
  std::string resource_prefix{};
  const std::atomic<int>* stop = nullptr;  ///< not zero: end early
};

/// Both run unmeasured for a moment first, so that connecting and the first allocations do not
/// count. Each lock in flight has a resource of its own.
[[nodiscard]] bench::CycleOutcome run_async_cycles(const CycleLoad& load);
[[nodiscard]] bench::CycleOutcome run_blocking_cycles(const CycleLoad& load);

/// How long that moment is.
[[nodiscard]] constexpr std::chrono::nanoseconds warm_up_of(
    std::chrono::nanoseconds duration) noexcept {
  const std::chrono::nanoseconds longest = std::chrono::milliseconds{200};
  return duration / 10 < longest ? duration / 10 : longest;
}

}  // namespace redlock::cli
