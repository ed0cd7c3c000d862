#pragma once

#include <atomic>
#include <chrono>

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

struct SequentialLoad {
  CycleSettings settings{};  ///< of these, not `max_cycles`
  std::chrono::nanoseconds warm_up{0};
  const std::atomic<int>* stop = nullptr;  ///< not zero: end early
  NodeCpu node_cpu{};
};

/// Lock cycles of the simplest client of the Redlock algorithm, which many implementations are: it
/// asks one node after the other, SET NX PX to acquire and a compare-and-delete by its digest to
/// release, and waits for each answer. Each lock in flight has a thread, and a connection to every
/// node, of its own.
[[nodiscard]] CycleOutcome run_sequential_client(const SequentialLoad& load);

}  // namespace redlock::bench
