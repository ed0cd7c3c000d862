#include "quorum-lock/bench_modes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "quorum-lock/cohort_bench.hpp"
#include "quorum-lock/crowd_bench.hpp"
#include "quorum-lock/cycle_mode.hpp"
#include "quorum-lock/family_bench.hpp"
#include "quorum-lock/faults_bench.hpp"
#include "quorum-lock/handoff_bench.hpp"
#include "quorum-lock/market_bench.hpp"
#include "quorum-lock/text.hpp"
#include "quorum-lock/usage_error.hpp"
#include "quorum-lock/verb.hpp"
#include "quorum-lock/verb_table.hpp"

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

/// Of the modes that read a BenchPlan.
constexpr std::string_view plan_options[] = {"in-flight", "duration", "repetitions"};

constexpr BenchMode all_bench_modes[] = {
    {"cycle", run_cycle_mode, cycle_options},     {"handoff", run_handoff_bench, handoff_options},
    {"market", run_market_bench, market_options}, {"cohort", run_cohort_bench, cohort_options},
    {"crowd", run_crowd_bench, crowd_options},    {"faults", run_faults_bench, plan_options},
    {"family", run_family_bench, plan_options},
};

const BenchMode& mode_of(const Arguments& given) {
  const std::string name = given.text("mode").value_or("cycle");
  if (const BenchMode* mode = find_bench_mode(name)) return *mode;
  throw UsageError(fmt::format("--mode: '{}' is not known: allowed are {}", as_printable(name),
                               bench_mode_names()));
}

void refuse_what_it_lacks(const BenchMode& mode, const Arguments& given) {
  for (const OptionText& option : find_verb_text("bench")->options) {
    if (option.name == "mode" || option.name == "ports") continue;
    const auto& taken = mode.options;
    if (std::find(taken.begin(), taken.end(), option.name) != taken.end()) continue;
    if (!given.asked_for(std::string(option.name))) continue;
    throw UsageError(fmt::format("--{}: not with --mode {}", option.name, mode.name));
  }
}

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

int verb_bench(const Arguments& given, const Signals& signals) {
  const BenchMode& mode = mode_of(given);
  refuse_what_it_lacks(mode, given);
  if (!given.words.empty()) {
    throw UsageError(fmt::format("'{}': bench takes no resource", as_printable(given.words[0])));
  }
  return mode.run(given, signals);
}

}  // namespace redlock::cli
