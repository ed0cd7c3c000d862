#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bench/page/bench_figures.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

/// Each figure under its name, and ratios with their spread.
void add_figures(nlohmann::ordered_json& json, const Figures& figures);
void add_ratios(nlohmann::ordered_json& json, const std::vector<Figures>& side,
                const std::vector<Figures>& other);

[[nodiscard]] std::string bench_json(const std::vector<BenchRow>& rows);
[[nodiscard]] std::string bench_text(const Style& style, const std::vector<BenchRow>& rows);

}  // namespace redlock::cli
