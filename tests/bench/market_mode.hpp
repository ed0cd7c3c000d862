#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `redlock_bench market`: the market of market.hpp kept consistent by WATCH, by one lock, and
/// by a lock per item, with 1×1, 5×1 and 5×5 sellers × buyers. Throws UsageError; gives the exit
/// code.
[[nodiscard]] int run_market_mode(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
