#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/peers.hpp"
#include "bench/page/bench_figures.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"

namespace redlock::cli {

/// Measures every combination of a request. Each combination has several repetitions; in each
/// repetition all sides run one after the other. Shows its progress as long as it lives.
class CycleMeasurement {
 public:
  /// `peers` may be null.
  CycleMeasurement(const CycleRequest& request, const Session& session, Peers* peers,
                   const std::atomic<int>& stop);

  /// The combinations that were finished before a stop; or a sentence that says why the measurement
  /// failed.
  [[nodiscard]] std::variant<std::vector<BenchRow>, std::string> run();

 private:
  enum class Guards { as_given, off };
  enum class Fencing { off, on };
  enum class Plain { on, off };

  [[nodiscard]] std::vector<std::string> first_nodes(std::size_t count) const;
  [[nodiscard]] std::string open(std::size_t nodes) const;
  [[nodiscard]] BenchRow new_row(std::size_t nodes, std::size_t in_flight) const;
  [[nodiscard]] bench::CycleSettings settings_of_others(const BenchRow& row) const;
  [[nodiscard]] bench::NodeCpu node_cpu() const;
  [[nodiscard]] bench::CycleOutcome run_ours(const BenchRow& row, Guards guards, Fencing fencing,
                                             Plain plain) const;
  [[nodiscard]] bench::CycleOutcome run_floor(const BenchRow& row) const;
  [[nodiscard]] std::string repeat(BenchRow& row);
  void run_peers(BenchRow& row);

  const CycleRequest& request_;
  const Session& session_;
  Peers* peers_;
  const std::atomic<int>& stop_;
  Progress progress_;
  std::string prefix_;
  std::size_t done_ = 0;
};

}  // namespace redlock::cli
