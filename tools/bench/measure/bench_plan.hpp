#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// Settings of all modes of bench that run cycles on one set of nodes: five nodes of their own if
/// the settings name none.
struct BenchPlan {
  Settings settings{};
  std::vector<std::uint64_t> in_flight{};
  std::chrono::nanoseconds duration{0};  ///< the length of one run
  std::uint64_t repetitions = 0;
};

/// Throws UsageError.
[[nodiscard]] BenchPlan read_bench_plan(const Arguments& given,
                                        std::chrono::nanoseconds default_duration);

/// --nodes-count of a mode that also asks the nodes itself, and so needs plain ones: without TLS,
/// user name and database number. If the settings name no nodes, the mode starts as many as it
/// needs; `usual` without the option. Throws UsageError.
[[nodiscard]] std::vector<std::uint64_t> choose_plain_nodes(const Arguments& given,
                                                            std::string_view mode,
                                                            std::uint64_t usual,
                                                            Settings& settings);

}  // namespace redlock::cli
