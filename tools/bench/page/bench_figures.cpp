#include "bench/page/bench_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace redlock::cli {
namespace {

constexpr double Figures::*all_figures[] = {&Figures::cycles_per_s,
                                            &Figures::acquire_p50_us,
                                            &Figures::acquire_p90_us,
                                            &Figures::acquire_p99_us,
                                            &Figures::acquire_p999_us,
                                            &Figures::cycle_p50_us,
                                            &Figures::cycle_p90_us,
                                            &Figures::cycle_p99_us,
                                            &Figures::cycle_p999_us,
                                            &Figures::client_cpu_us_per_cycle,
                                            &Figures::client_kernel_us_per_cycle,
                                            &Figures::node_cpu_us_per_cycle};

/// The median of the values that `read` returns for the repetitions.
template <typename Read>
double median_of(const std::vector<Figures>& repetitions, const Read& read) {
  std::vector<double> values;
  values.reserve(repetitions.size());
  for (const Figures& repetition : repetitions) values.push_back(read(repetition));
  return spread_of(std::move(values)).median;
}

}  // namespace

Figures figures_of(const bench::CycleResult& result) {
  Figures figures;
  figures.cycles_per_s = result.cycles_per_s();
  figures.acquire_p50_us = result.acquire_us(50);
  figures.acquire_p90_us = result.acquire_us(90);
  figures.acquire_p99_us = result.acquire_us(99);
  figures.acquire_p999_us = result.acquire_us(99.9);
  figures.cycle_p50_us = result.cycle_us(50);
  figures.cycle_p90_us = result.cycle_us(90);
  figures.cycle_p99_us = result.cycle_us(99);
  figures.cycle_p999_us = result.cycle_us(99.9);
  figures.client_cpu_us_per_cycle = result.client_cpu_us_per_cycle();
  figures.client_kernel_us_per_cycle = result.kernel_us_per_cycle();
  figures.node_cpu_us_per_cycle = result.node_cpu_us_per_cycle();
  figures.failures = result.failures;
  figures.fenced_in_one_round = result.fenced_in_one_round;
  figures.fenced_in_more_rounds = result.fenced_in_more_rounds;
  for (std::size_t i = 0; i < curve_percents.size(); ++i) {
    figures.acquire_curve_us[i] = result.acquire_us(curve_percents[i]);
    figures.cycle_curve_us[i] = result.cycle_us(curve_percents[i]);
  }
  return figures;
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Figures medians_of(const std::vector<Figures>& repetitions) {
  Figures medians;
  for (const auto figure : all_figures) {
    medians.*figure = median_of(repetitions, [figure](const Figures& one) { return one.*figure; });
  }
  for (std::size_t i = 0; i < curve_percents.size(); ++i) {
    medians.acquire_curve_us[i] =
        median_of(repetitions, [i](const Figures& one) { return one.acquire_curve_us[i]; });
    medians.cycle_curve_us[i] =
        median_of(repetitions, [i](const Figures& one) { return one.cycle_curve_us[i]; });
  }
  for (const Figures& repetition : repetitions) {
    medians.failures += repetition.failures;
    medians.fenced_in_one_round += repetition.fenced_in_one_round;
    medians.fenced_in_more_rounds += repetition.fenced_in_more_rounds;
  }
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

Spread ratio_of(const BenchRow& row, double Figures::*figure) {
  return ratio_of(row.ours, row.floor, figure);
}

double one_round_share(const BenchRow& row) {
  const Figures all = medians_of(row.fenced);
  const auto leases = all.fenced_in_one_round + all.fenced_in_more_rounds;
  return leases == 0 ? 0
                     : static_cast<double>(all.fenced_in_one_round) / static_cast<double>(leases);
}

std::string spread_text(const Spread& spread) {
  return fmt::format("{:.2f} ({:.2f}-{:.2f})", spread.median, spread.least, spread.most);
}

}  // namespace redlock::cli
