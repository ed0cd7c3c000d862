#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/cycle_result.hpp"

namespace redlock::cli {

/// The percentiles at which a curve of latencies is drawn.
inline constexpr std::array<double, 12> curve_percents{0,  10, 25, 50,   75,   90,
                                                       95, 98, 99, 99.5, 99.8, 99.9};
using Curve = std::array<double, curve_percents.size()>;

/// The results of one run.
struct Figures {
  double cycles_per_s = 0;
  double acquire_p50_us = 0;
  double acquire_p99_us = 0;
  double cycle_p50_us = 0;
  double cycle_p99_us = 0;
  double client_cpu_us_per_cycle = 0;
  /// The CPU time of all nodes together; 0: they are not our own.
  double node_cpu_us_per_cycle = 0;
  std::uint64_t failures = 0;
  std::uint64_t fenced_in_one_round = 0;
  std::uint64_t fenced_in_more_rounds = 0;
  double client_kernel_us_per_cycle = 0;  ///< the kernel's part of the client's CPU time
  double acquire_p90_us = 0;
  double acquire_p999_us = 0;
  double cycle_p90_us = 0;
  double cycle_p999_us = 0;
  Curve acquire_curve_us{};  ///< at `curve_percents`
  Curve cycle_curve_us{};
};

[[nodiscard]] Figures figures_of(const bench::CycleResult& result);

/// Another client that was measured in step with ours.
struct PeerSide {
  std::string name{};
  std::string version{};
  std::vector<Figures> runs{};
};

/// All repetitions of one combination. Those of the floor, which only --floor runs, are in step
/// with ours.
struct BenchRow {
  std::size_t nodes = 0;
  std::size_t in_flight = 0;
  std::vector<Figures> ours{};
  std::vector<Figures> floor{};
  // With --guards, in step with each other:
  std::vector<Figures> plain{};    ///< all guards off
  std::vector<Figures> guarded{};  ///< all guards on
  std::vector<Figures> fenced{};   ///< all guards on, and a fencing token for each lease
  // With --scripts, in step with each other:
  std::vector<Figures> plain_commands{};
  std::vector<Figures> scripts{};
  std::vector<PeerSide> peers{};
};

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Each figure's median; the failures of all repetitions together.
[[nodiscard]] Figures medians_of(const std::vector<Figures>& repetitions);

/// One side divided by the other, repetition by repetition. The two ran one right after the other,
/// so a disturbance of one most likely disturbed both.
[[nodiscard]] Spread ratio_of(const std::vector<Figures>& side, const std::vector<Figures>& other,
                              double Figures::*figure);
[[nodiscard]] Spread ratio_of(const BenchRow& row, double Figures::*figure);

/// The share of fenced leases that needed only one round trip.
[[nodiscard]] double one_round_share(const BenchRow& row);

/// "0.91 (0.90-0.93)": the median, the least and the most.
[[nodiscard]] std::string spread_text(const Spread& spread);

}  // namespace redlock::cli
