#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// The verbs. Each checks its arguments (UsageError) before it starts or sends anything, and
/// returns the exit code of the program.
[[nodiscard]] int verb_run(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_acquire(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_extend(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_downgrade(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_release(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_inspect(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_list(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_top(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_watch(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_break(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_doctor(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_bootstrap(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_members(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_bench(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_elect(const Arguments& given, const Signals& signals);
[[nodiscard]] int verb_chaos(const Arguments& given, const Signals& signals);

/// `given` must come from the command line alone: the verb checks the file of --config.
[[nodiscard]] int verb_config(const Arguments& given);

}  // namespace redlock::cli
