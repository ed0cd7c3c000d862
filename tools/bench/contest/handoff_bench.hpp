#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode handoff`: how contenders in processes of their own hand one lock over to each
/// other. Throws UsageError; gives the exit code.
[[nodiscard]] int run_handoff_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
