#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode faults`: lock cycles while nodes of its own are killed or stopped, compared with
/// the same cycles on healthy nodes, and how soon calls end after a majority is gone. Throws
/// UsageError and std::runtime_error; gives the exit code.
[[nodiscard]] int run_faults_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
