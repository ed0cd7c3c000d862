#include "bench/bench_modes.hpp"

#include "bench/contest/cohort_bench.hpp"
#include "bench/contest/crowd_bench.hpp"
#include "bench/contest/handoff_bench.hpp"
#include "bench/contest/market_bench.hpp"
#include "bench/cycle/cycle_mode.hpp"
#include "bench/cycle/family_bench.hpp"
#include "bench/cycle/faults_bench.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view cycle_options[] = {"in-flight", "nodes-count", "duration", "repetitions",
                                              "async",     "blocking",    "guards",   "scripts",
                                              "floor",     "peers",       "html"};
constexpr std::string_view handoff_options[] = {
    "nodes-count", "repetitions", "contenders", "hold", "hand-overs", "reentry", "drain", "floor"};
constexpr std::string_view market_options[] = {"duration"};
constexpr std::string_view cohort_options[] = {"contenders", "duration"};

constexpr std::string_view crowd_options[] = {"nodes-count", "duration", "contenders", "hold"};

/// The options of all modes that read a BenchPlan.
constexpr std::string_view plan_options[] = {"in-flight", "duration", "repetitions"};

constexpr BenchMode all_bench_modes[] = {
    {"cycle", run_cycle_mode, cycle_options},     {"handoff", run_handoff_bench, handoff_options},
    {"market", run_market_bench, market_options}, {"cohort", run_cohort_bench, cohort_options},
    {"crowd", run_crowd_bench, crowd_options},    {"faults", run_faults_bench, plan_options},
    {"family", run_family_bench, plan_options},
};

}  // namespace

std::span<const BenchMode> bench_modes() noexcept { return all_bench_modes; }

const BenchMode* find_bench_mode(std::string_view name) noexcept {
  for (const BenchMode& mode : all_bench_modes) {
    if (mode.name == name) return &mode;
  }
  return nullptr;
}

std::string bench_mode_names() {
  std::string names;
  const BenchMode& last = bench_modes().back();
  for (const BenchMode& mode : all_bench_modes) {
    if (!names.empty()) names += &mode == &last ? " and " : ", ";
    names += mode.name;
  }
  return names;
}

}  // namespace redlock::cli
