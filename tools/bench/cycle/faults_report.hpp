#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "bench/page/bench_report.hpp"
#include "common/servers/local_nodes.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

/// The fault at the beginning of a run, and the number of nodes that it strikes; 0: there is no
/// fault.
struct BenchFault {
  LocalNodes::Fault fault = LocalNodes::Fault::killed;
  std::size_t nodes = 0;
};

/// A minority of the nodes killed, then stopped, and a majority.
[[nodiscard]] std::vector<BenchFault> bench_faults(std::size_t nodes);

/// All repetitions of one fault with one number of locks in flight.
struct FaultRow {
  std::size_t in_flight = 0;
  BenchFault fault{};
  bool majority = false;           ///< the fault strikes a majority: no lock can be granted
  std::vector<Figures> figures{};  ///< the figures of each repetition
  std::vector<Figures> healthy{};  ///< the figures of the run on healthy nodes before each
  std::chrono::nanoseconds worst_acquire{0};  ///< the longest acquire call that was granted
  CycleFailures failures{};
};

struct FaultsReport {
  std::size_t nodes = 0;
  std::chrono::nanoseconds node_limit{0};
  std::vector<FaultRow> rows{};
};

[[nodiscard]] std::string faults_json(const FaultsReport& report);
[[nodiscard]] std::string faults_text(const Style& style, const FaultsReport& report);

/// "2 stopped", "healthy".
[[nodiscard]] std::string fault_text(const BenchFault& fault);

}  // namespace redlock::cli
