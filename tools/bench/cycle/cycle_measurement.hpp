#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bench/cycle/cycle_figures.hpp"
#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/cycle_side.hpp"
#include "common/session/progress.hpp"
#include "common/session/session.hpp"

namespace redlock::cli {

/// Measures every combination of a request. Each combination has several repetitions; in each
/// repetition our cycles and all sides run one after the other. Shows its progress as long as it
/// lives.
class CycleMeasurement {
 public:
  CycleMeasurement(const CycleRequest& request, const Session& session,
                   std::vector<CycleSide>& sides, const std::atomic<int>& stop);

  /// The combinations that were finished before a stop; or a sentence that says why the measurement
  /// failed.
  [[nodiscard]] std::variant<std::vector<CycleRow>, std::string> run();

 private:
  [[nodiscard]] std::vector<std::string> first_nodes(std::size_t count) const;
  [[nodiscard]] CycleLoad load_of(const CycleRow& row) const;
  [[nodiscard]] std::string repeat(CycleRow& row);

  const CycleRequest& request_;
  const Session& session_;
  std::vector<CycleSide>& sides_;
  const std::atomic<int>& stop_;
  Progress progress_;
  std::string prefix_;
  std::size_t done_ = 0;
};

}  // namespace redlock::cli
