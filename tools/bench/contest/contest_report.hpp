#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/contest/contest_figures.hpp"
#include "bench/measure/node_commands.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

/// Work of the nodes during one run, on average per hand-over and node.
struct HandoverCommands {
  double all = 0;
  double scripts = 0;
};

/// The work per hand-over, from two samples of the same nodes between which the lock was granted
/// `grants` times.
[[nodiscard]] HandoverCommands commands_per_handover(
    const std::vector<bench::CommandCounts>& before, const std::vector<bench::CommandCounts>& after,
    std::uint64_t grants);

/// The results of one run.
struct ContestFigures {
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
  double connect_us = 0;   ///< until each contender has acquired a lock of its own
  double connections = 0;  ///< connections of one contender to one node
  double failures = 0;     ///< acquires that failed
  double overlaps = 0;
  std::string wrong{};  ///< describes the first overlap
};

[[nodiscard]] ContestFigures figures_of(const bench::ContestResult& result,
                                        const HandoverCommands& commands);
[[nodiscard]] ContestFigures medians_of(const std::vector<ContestFigures>& repetitions);

/// All repetitions of one combination.
struct ContestRow {
  std::size_t nodes = 0;
  std::size_t contenders = 0;
  bench::ContestPattern pattern = bench::ContestPattern::reentry;
  std::vector<ContestFigures> runs{};
};

/// `mode` is "handoff" or "crowd".
[[nodiscard]] std::string contest_json(std::string_view mode, const std::vector<ContestRow>& rows);
[[nodiscard]] std::string contest_text(const Style& style, const std::vector<ContestRow>& rows);

}  // namespace redlock::cli
