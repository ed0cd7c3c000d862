#include "bench/cycle/cycle_figures.hpp"

#include <algorithm>
#include <utility>

namespace redlock::cli {

Figures figures_of(const bench::CycleResult& result) {
  const auto of = [](const bench::Histogram& histogram, double percent) {
    return bench::CycleResult::in_us(histogram.percentile(percent));
  };
  Figures figures;
  figures.cycles_per_s = result.cycles_per_s();
  figures.acquire_p50_us = of(result.acquire, 50);
  figures.acquire_p90_us = of(result.acquire, 90);
  figures.acquire_p99_us = of(result.acquire, 99);
  figures.acquire_p999_us = of(result.acquire, 99.9);
  figures.acquire_max_us = of(result.acquire, 100);
  figures.cycle_p50_us = of(result.cycle, 50);
  figures.cycle_p90_us = of(result.cycle, 90);
  figures.cycle_p99_us = of(result.cycle, 99);
  figures.cycle_p999_us = of(result.cycle, 99.9);
  figures.failure_p50_us = of(result.failure, 50);
  figures.failure_max_us = of(result.failure, 100);
  figures.client_cpu_us_per_cycle = result.client_cpu_us_per_cycle();
  figures.client_kernel_us_per_cycle = result.kernel_us_per_cycle();
  figures.node_cpu_us_per_cycle = result.node_cpu_us_per_cycle();
  figures.failures = result.failures;
  return figures;
}

Figures medians_of(const std::vector<Figures>& repetitions) {
  Figures medians;
  for (const NamedFigure& named : named_figures) {
    std::vector<double> values;
    values.reserve(repetitions.size());
    for (const Figures& repetition : repetitions) values.push_back(repetition.*named.figure);
    medians.*named.figure = spread_of(std::move(values)).median;
  }
  for (const Figures& repetition : repetitions) medians.failures += repetition.failures;
  return medians;
}

Spread ratio_of(const std::vector<Figures>& side, const std::vector<Figures>& other,
                double Figures::*figure) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(side.size(), other.size()); ++i) {
    const double divisor = other[i].*figure;
    if (divisor > 0) ratios.push_back(side[i].*figure / divisor);
  }
  return spread_of(std::move(ratios));
}

}  // namespace redlock::cli
