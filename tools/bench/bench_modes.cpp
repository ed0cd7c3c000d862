#include "bench/bench_modes.hpp"

#include "bench/contest/contest_bench.hpp"
#include "bench/cycle/cycle_mode.hpp"

namespace redlock::cli {
namespace {

constexpr std::string_view cycle_options[] = {"in-flight", "nodes-count", "duration", "repetitions",
                                              "async",     "blocking",    "peers"};
constexpr std::string_view handoff_options[] = {"nodes-count", "repetitions", "contenders", "hold",
                                                "hand-overs",  "reentry",     "drain"};
constexpr std::string_view crowd_options[] = {"nodes-count", "duration", "contenders", "hold"};

constexpr BenchMode all_bench_modes[] = {
    {"cycle", run_cycle_mode, cycle_options},
    {"handoff", run_handoff_bench, handoff_options},
    {"crowd", run_crowd_bench, crowd_options},
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
