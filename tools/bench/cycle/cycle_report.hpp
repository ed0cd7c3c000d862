#pragma once

#include <string>
#include <vector>

#include "bench/cycle/cycle_figures.hpp"
#include "common/session/output.hpp"

namespace redlock::cli {

[[nodiscard]] std::string cycle_json(const std::vector<CycleRow>& rows);
[[nodiscard]] std::string cycle_text(const Style& style, const std::vector<CycleRow>& rows);

}  // namespace redlock::cli
