#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode cycle`: locks that are acquired and released again, each with a resource of its
/// own. Gives the exit code.
[[nodiscard]] int run_cycle_mode(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
