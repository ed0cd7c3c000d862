#pragma once

#include "quorum-lock/arguments.hpp"
#include "quorum-lock/signals.hpp"

namespace redlock::cli {

/// `bench --mode cycle`: locks that are acquired and released again, each with a resource of its
/// own. Gives the exit code.
[[nodiscard]] int run_cycle_mode(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
