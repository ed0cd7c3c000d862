#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// `bench --mode family`: cycles of each kind of lock, without guards, with them, and with fencing
/// tokens if the kind has those, compared with exclusive locks without guards. Throws UsageError
/// and std::runtime_error; gives the exit code.
[[nodiscard]] int run_family_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
