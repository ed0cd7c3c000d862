#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/cycle_result.hpp"
#include "bench/measure/spread.hpp"

namespace redlock::cli {

/// The results of one run.
struct Figures {
  double cycles_per_s = 0;
  double acquire_p50_us = 0;
  double acquire_p90_us = 0;
  double acquire_p99_us = 0;
  double acquire_p999_us = 0;
  double acquire_max_us = 0;
  double cycle_p50_us = 0;
  double cycle_p90_us = 0;
  double cycle_p99_us = 0;
  double cycle_p999_us = 0;
  double failure_p50_us = 0;  ///< of the calls that failed; 0: there was none
  double failure_max_us = 0;
  double client_cpu_us_per_cycle = 0;
  double client_kernel_us_per_cycle = 0;  ///< the kernel's part of the client's CPU time
  /// The CPU time of all nodes together; 0: they are not our own.
  double node_cpu_us_per_cycle = 0;
  std::uint64_t failures = 0;
};

struct NamedFigure {
  const char* name;
  double Figures::*figure;
};
inline constexpr NamedFigure named_figures[] = {
    {"cycles_per_s", &Figures::cycles_per_s},
    {"acquire_p50_us", &Figures::acquire_p50_us},
    {"acquire_p90_us", &Figures::acquire_p90_us},
    {"acquire_p99_us", &Figures::acquire_p99_us},
    {"acquire_p999_us", &Figures::acquire_p999_us},
    {"acquire_max_us", &Figures::acquire_max_us},
    {"cycle_p50_us", &Figures::cycle_p50_us},
    {"cycle_p90_us", &Figures::cycle_p90_us},
    {"cycle_p99_us", &Figures::cycle_p99_us},
    {"cycle_p999_us", &Figures::cycle_p999_us},
    {"failure_p50_us", &Figures::failure_p50_us},
    {"failure_max_us", &Figures::failure_max_us},
    {"client_cpu_us_per_cycle", &Figures::client_cpu_us_per_cycle},
    {"client_kernel_us_per_cycle", &Figures::client_kernel_us_per_cycle},
    {"node_cpu_us_per_cycle", &Figures::node_cpu_us_per_cycle},
};

[[nodiscard]] Figures figures_of(const bench::CycleResult& result);

/// The figures of another side, measured in turn with our cycles.
struct SideFigures {
  std::string name{};
  std::string version{};
  std::vector<Figures> runs{};
};

/// All repetitions of one combination.
struct CycleRow {
  std::size_t nodes = 0;
  std::size_t in_flight = 0;
  std::vector<Figures> ours{};
  std::vector<SideFigures> sides{};
};

/// Each figure's median; the failures of all repetitions together.
[[nodiscard]] Figures medians_of(const std::vector<Figures>& repetitions);

/// One side divided by the other, repetition by repetition. The two ran one right after the other,
/// so a disturbance of one most likely disturbed both.
[[nodiscard]] Spread ratio_of(const std::vector<Figures>& side, const std::vector<Figures>& other,
                              double Figures::*figure);

}  // namespace redlock::cli
