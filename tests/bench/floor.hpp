#pragma once

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

/// The floor that lock managers are measured against: SET … NX PX to all nodes, wait for a
/// majority, compare-and-delete on all nodes, wait for a majority. It has no lock logic: no
/// validity, no deadlines, no retries. It uses libuv streams, with one `uv_try_write` per node and
/// loop turn for all locks in flight, and reads replies by hiredis' `redisReader`.
///
/// Blocks the calling thread on a loop of its own. Plain connections only: no TLS.
[[nodiscard]] CycleOutcome run_floor(const CycleSettings& settings);

}  // namespace redlock::bench
