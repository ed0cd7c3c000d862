#pragma once

#include <atomic>
#include <vector>

#include "bench/cycle/cycle_side.hpp"
#include "common/session/settings.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// The clients of `bench --peers`, which are in the npm registry. Installs them if they are
/// missing. Their runs are for the main thread; `signals` and `stop` must outlive them.
[[nodiscard]] std::vector<CycleSide> peer_sides(const Settings& settings, const Signals& signals,
                                                const std::atomic<int>& stop);

}  // namespace redlock::cli
