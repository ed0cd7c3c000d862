#pragma once

#include <cstddef>
#include <string>

#include "chaos/checker/checker.hpp"
#include "chaos/checker/checker_history.hpp"

namespace redlock::chaos {

/// "0, 2", "all", or empty.
[[nodiscard]] std::string contenders_of(const FaultRecord& fault, std::size_t contenders);

/// The holders of each resource over what was broken, as SVG with its legend.
[[nodiscard]] std::string timeline(const History& history, const Judgement& judgement);

}  // namespace redlock::chaos
