#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/cycle/cycle_bench.hpp"
#include "bench/measure/cycle_result.hpp"

namespace redlock::cli {

/// Another side, measured in turn with our cycles: on the same nodes, with as many locks in flight.
struct CycleSide {
  std::string name{};
  /// One run, by the load of our cycles. A sentence says why the side is left out from then on.
  std::function<bench::CycleOutcome(const CycleLoad& ours)> run{};
  std::string left_out{};  ///< why it is not measured; empty: it is measured
  bool told = false;       ///< whether `left_out` was reported
};

/// Reports each side that is left out once, with the reason, in a line. Must not be called while a
/// progress bar is shown.
void tell_left_out(std::vector<CycleSide>& sides);

/// The load for a program that is not the library. All its nodes have a plain endpoint.
[[nodiscard]] bench::CycleSettings plain_settings(const CycleLoad& load);

}  // namespace redlock::cli
