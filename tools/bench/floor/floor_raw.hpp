#pragma once

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

/// The exchange of `run_floor_uv`, but with epoll, `send`, `recv` and a parser that knows only the
/// replies to its two commands: the cost of the kernel and the servers alone.
///
/// Blocks the calling thread. Plain connections only: no TLS. Linux only.
[[nodiscard]] CycleOutcome run_floor_raw(const CycleSettings& settings);

}  // namespace redlock::bench
