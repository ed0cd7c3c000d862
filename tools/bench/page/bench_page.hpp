#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/page/bench_figures.hpp"

namespace redlock::cli {

/// How something was measured.
struct BenchFacts {
  std::string command{};  ///< the command that repeats the measurement
  /// Names and their values, such as the machine.
  std::vector<std::pair<std::string, std::string>> about{};
  std::vector<std::string> left_out{};  ///< a sentence for each peer that was not measured
};

/// A self-contained page: throughput, latencies, the parts of the time, and every figure. If there
/// are no rows, it says so.
[[nodiscard]] std::string bench_page(const BenchFacts& facts, const std::vector<BenchRow>& rows);

}  // namespace redlock::cli
