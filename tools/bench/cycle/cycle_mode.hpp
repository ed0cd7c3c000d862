#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/cycle_side.hpp"
#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode cycle`. Throws UsageError; gives the exit code.
[[nodiscard]] int run_cycle_mode(const Arguments& given, const Signals& signals);

/// The sides of a measurement, which stops once `stop` is not zero.
using MakeSides = std::function<std::vector<CycleSide>(const std::atomic<int>& stop)>;

/// Measures, and prints the rows. Gives the exit code.
[[nodiscard]] int measure_cycles(const CycleRequest& request, const Signals& signals,
                                 const MakeSides& make_sides);

}  // namespace redlock::cli
