#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/contest/handoff_figures.hpp"
#include "bench/measure/node_commands.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

/// Work of the nodes during one run, on average per hand-over and node.
struct HandoffCommands {
  double all = 0;
  double scripts = 0;
};

/// The work per hand-over, from two samples of the same nodes between which the lock was granted
/// `grants` times.
[[nodiscard]] HandoffCommands commands_per_handover(const std::vector<bench::CommandCounts>& before,
                                                    const std::vector<bench::CommandCounts>& after,
                                                    std::uint64_t grants);

/// The results of one run.
struct HandoffFigures {
  double acquisitions_per_s = 0;
  double handover_p50_us = 0;
  double handover_p99_us = 0;
  double handover_max_us = 0;
  double wait_p50_us = 0;
  double wait_p99_us = 0;
  double wait_max_us = 0;
  double share_max = 0;
  double share_min = 0;
  double share_ratio = 0;  ///< infinite if a contender got nothing
  double handovers = 0;
  double reentries = 0;
  double unacknowledged = 0;
  double commands = 0;
  double scripts = 0;
};

[[nodiscard]] HandoffFigures figures_of(const bench::HandoffResult& result,
                                        const HandoffCommands& commands);
[[nodiscard]] HandoffFigures medians_of(const std::vector<HandoffFigures>& repetitions);

/// All repetitions of one combination. The floor's, if there are any, ran in step with ours.
struct HandoffRow {
  std::size_t nodes = 0;
  std::size_t contenders = 0;
  bench::HandoffPattern pattern = bench::HandoffPattern::reentry;
  std::vector<HandoffFigures> ours{};
  std::vector<HandoffFigures> floor{};
  std::vector<double> floor_acquire_p50_us{};
};

/// Our hand-over time in units of the floor's acquire p50: the median over the repetitions.
[[nodiscard]] double ratio_to_acquire(const HandoffRow& row, double HandoffFigures::*figure);

[[nodiscard]] std::string handoff_json(const std::vector<HandoffRow>& rows);
[[nodiscard]] std::string handoff_text(const Style& style, const std::vector<HandoffRow>& rows);

}  // namespace redlock::cli
