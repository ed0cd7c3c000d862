#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/cycle_result.hpp"
#include "quorum-lock/output.hpp"

namespace redlock::cli {

/// The results of one run.
struct Figures {
  double cycles_per_s = 0;
  double acquire_p50_us = 0;
  double acquire_p99_us = 0;
  double cycle_p50_us = 0;
  double cycle_p99_us = 0;
  double client_cpu_us_per_cycle = 0;
  double node_cpu_us_per_cycle = 0;  ///< of all nodes; 0 where they are not our own
  std::uint64_t failures = 0;
  std::uint64_t fenced_in_one_round = 0;
  std::uint64_t fenced_in_more_rounds = 0;
};

[[nodiscard]] Figures figures_of(const bench::CycleResult& result);

/// One combination: all repetitions, the floor's in step with ours (empty without --floor).
struct BenchRow {
  std::size_t nodes = 0;
  std::size_t in_flight = 0;
  std::vector<Figures> ours{};
  std::vector<Figures> floor{};
  // With --guards, in step with each other:
  std::vector<Figures> plain{};    ///< all guards off
  std::vector<Figures> guarded{};  ///< all guards on
  std::vector<Figures> fenced{};   ///< and a fencing token for each lease
  // With --scripts, in step with each other:
  std::vector<Figures> plain_commands{};
  std::vector<Figures> scripts{};
};

struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Each figure's median; the failures of all repetitions together.
[[nodiscard]] Figures medians_of(const std::vector<Figures>& repetitions);

/// One side over the other, repetition by repetition: the two ran one right after the other, so
/// that what disturbed one most likely disturbed both.
[[nodiscard]] Spread ratio_of(const std::vector<Figures>& side, const std::vector<Figures>& other,
                              double Figures::*figure);
[[nodiscard]] Spread ratio_of(const BenchRow& row, double Figures::*figure);

/// Each figure under its name, and ratios with their spread.
void add_figures(nlohmann::ordered_json& json, const Figures& figures);
void add_ratios(nlohmann::ordered_json& json, const std::vector<Figures>& side,
                const std::vector<Figures>& other);
/// "0.98 (0.95-1.02)".
[[nodiscard]] std::string spread_text(const Spread& spread);

[[nodiscard]] std::string bench_json(const std::vector<BenchRow>& rows);
[[nodiscard]] std::string bench_text(const Style& style, const std::vector<BenchRow>& rows);

}  // namespace redlock::cli
