#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/cycle_side.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// The sides of `redlock_bench cycle --sides`:
///   floor, sequential                 programs without the library
///   unguarded, fenced, scripts        the library with other options
///   shared, owned, permit, interval, several   other kinds of lock
///   killed1, stopped2, …              the library, while so many nodes of its own are down
/// Throws UsageError.
void check_sides(const std::vector<std::string>& names);

/// `request`, `signals` and `stop` must outlive the sides.
[[nodiscard]] std::vector<CycleSide> sides_of(const std::vector<std::string>& names,
                                              const CycleRequest& request, const Signals& signals,
                                              const std::atomic<int>& stop);

}  // namespace redlock::cli
