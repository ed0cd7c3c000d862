#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode handoff`: one lock that processes hand over to each other. Throws UsageError;
/// gives the exit code.
[[nodiscard]] int run_handoff_bench(const Arguments& given, const Signals& signals);

/// `bench --mode crowd`: many clients with connections of their own that wait for one lock.
[[nodiscard]] int run_crowd_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
