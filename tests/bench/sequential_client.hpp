#pragma once

#include <atomic>
#include <chrono>

#include "bench/measure/cycle_result.hpp"

namespace redlock::bench {

struct SequentialLoad {
  CycleSettings settings{};
  std::chrono::nanoseconds warm_up{0};
  const std::atomic<int>* stop = nullptr;  ///< not zero: end early
  NodeCpu node_cpu{};
};

/// Lock cycles of the simplest client of the Redlock algorithm, as many implementations are. It
/// asks one node after the other, and waits for each answer: SET NX PX to acquire, and a
/// compare-and-delete by its digest to release. Each lock in flight has a thread of its own, and
/// its own connection to every node.
[[nodiscard]] CycleOutcome run_sequential_client(const SequentialLoad& load);

}  // namespace redlock::bench
