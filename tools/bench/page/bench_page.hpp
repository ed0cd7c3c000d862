#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/page/bench_figures.hpp"

namespace redlock::cli {

/// How something was measured.
struct BenchFacts {
  std::string command{};                                     ///< that does it again
  std::vector<std::pair<std::string, std::string>> about{};  ///< a name, and what is to say
  std::vector<std::string> left_out{};                       ///< sentences
};

/// A page that needs nothing else: throughput, latencies, where the time goes, and every figure.
/// Without rows it says so.
[[nodiscard]] std::string bench_page(const BenchFacts& facts, const std::vector<BenchRow>& rows);

}  // namespace redlock::cli
