#pragma once

#include <chrono>
#include <cstdint>

#include "bench/contest/contender.hpp"
#include "bench/contest/contest_figures.hpp"
#include "bench/contest/contest_report.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// One run of one combination.
struct ContestPlan {
  ContestRequest request{};  ///< without the part of one process
  bench::ContestPattern pattern = bench::ContestPattern::reentry;
  std::size_t clients_per_process = 1;
  /// Re-entry is measured for this time, after a second; zero: for `request.grants` grants, after a
  /// lap in which each contender has waited once.
  std::chrono::nanoseconds duration{0};
};

/// Starts the contenders, lets them compete, and judges their records. Throws std::runtime_error
/// and ContendersInterrupted.
[[nodiscard]] ContestFigures run_contest(const ContestPlan& plan, const Signals& signals);

}  // namespace redlock::cli
