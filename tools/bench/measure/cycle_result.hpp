#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "bench/measure/histogram.hpp"

namespace redlock::bench {

/// The address of a node; a `unix_path` that is not empty takes precedence over host and port.
struct Endpoint {
  std::string host;
  std::uint16_t port = 6379;
  std::string unix_path;
  std::string password;
};

/// One run of lock cycles (acquire, then release) by a program that is not the library.
struct CycleSettings {
  std::vector<Endpoint> nodes;
  std::size_t in_flight = 1;
  std::chrono::nanoseconds duration{0};
  std::chrono::milliseconds ttl{10'000};
  std::string resource_prefix = "bench";

  [[nodiscard]] std::size_t quorum() const noexcept { return nodes.size() / 2 + 1; }
};

struct CycleResult {
  std::uint64_t cycles = 0;
  std::uint64_t failures = 0;
  std::chrono::nanoseconds elapsed{0};
  /// User plus system time that the client spent during `elapsed`.
  std::chrono::nanoseconds cpu{0};
  /// The part of `cpu` that was spent in the kernel.
  std::chrono::nanoseconds cpu_in_kernel{0};
  /// The CPU time of all nodes together; zero: they are not ours.
  std::chrono::nanoseconds node_cpu{0};
  Histogram acquire;
  Histogram cycle;
  Histogram failure;      ///< how long the calls took that failed
  std::string version{};  ///< of the client; empty: not reported

  [[nodiscard]] double cycles_per_s() const noexcept {
    if (elapsed.count() <= 0) return 0;
    return static_cast<double>(cycles) / std::chrono::duration<double>{elapsed}.count();
  }
  [[nodiscard]] double client_cpu_us_per_cycle() const noexcept {
    return cycles == 0 ? 0 : in_us(cpu) / static_cast<double>(cycles);
  }
  [[nodiscard]] double node_cpu_us_per_cycle() const noexcept {
    return cycles == 0 ? 0 : in_us(node_cpu) / static_cast<double>(cycles);
  }
  [[nodiscard]] double kernel_us_per_cycle() const noexcept {
    return cycles == 0 ? 0 : in_us(cpu_in_kernel) / static_cast<double>(cycles);
  }
  [[nodiscard]] static double in_us(std::chrono::nanoseconds duration) noexcept {
    return std::chrono::duration<double, std::micro>{duration}.count();
  }
};

/// The figures, or the sentence that says why there are none.
using CycleOutcome = std::variant<CycleResult, std::string>;

/// The CPU time that all nodes have used until now; empty: not known.
using NodeCpu = std::function<std::chrono::nanoseconds()>;
[[nodiscard]] inline std::chrono::nanoseconds cpu_of_nodes(const NodeCpu& node_cpu) {
  return node_cpu ? node_cpu() : std::chrono::nanoseconds{0};
}

/// The CPU time that counts: that of one thread for a loop (of the process, on systems that count
/// only processes), that of the whole process for clients with threads.
enum class CpuScope { calling_thread, process };

struct CpuUse {
  std::chrono::nanoseconds user{0};
  std::chrono::nanoseconds kernel{0};
};

/// The CPU time used until now; zero if the kernel does not report it.
[[nodiscard]] inline CpuUse cpu_use([[maybe_unused]] CpuScope scope) noexcept {
  rusage usage{};
#ifdef RUSAGE_THREAD
  const auto who = scope == CpuScope::calling_thread ? RUSAGE_THREAD : RUSAGE_SELF;
#else
  const auto who = RUSAGE_SELF;
#endif
  if (getrusage(who, &usage) != 0) return {};
  const auto duration_of = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return {duration_of(usage.ru_utime), duration_of(usage.ru_stime)};
}

/// Adds the consumption since then to the result.
inline void count_cpu(CycleResult& result, const CpuUse& since, CpuScope scope) noexcept {
  const CpuUse now = cpu_use(scope);
  result.cpu_in_kernel = now.kernel - since.kernel;
  result.cpu = now.user - since.user + result.cpu_in_kernel;
}

}  // namespace redlock::bench
