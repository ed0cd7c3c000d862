#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode cohort`: threads that share one Mutex, alone and while another client wants the
/// lock too. Throws UsageError; gives the exit code.
[[nodiscard]] int run_cohort_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
