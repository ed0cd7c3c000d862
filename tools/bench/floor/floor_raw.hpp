#pragma once

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

/// The same exchange as `run_floor_uv` with epoll, `send`, `recv` and a parser that knows only the
/// replies of these two commands: the cost of the kernel and the servers alone.
///
/// Blocks the calling thread. Plain connections only: no TLS. Linux only.
[[nodiscard]] CycleOutcome run_floor_raw(const CycleSettings& settings);

}  // namespace redlock::bench
