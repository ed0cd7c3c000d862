#pragma once

#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// The verbs. Each checks its arguments (UsageError) before it starts or sends anything, and
/// returns the exit code of the program.
// clang-format off
#define QUORUM_LOCK_VERBS(VERB) \
  VERB(run) VERB(acquire) VERB(extend) VERB(downgrade) VERB(release) VERB(inspect) VERB(list) \
  VERB(top) VERB(watch) VERB(break) VERB(doctor) VERB(bootstrap) VERB(members) VERB(bench) \
  VERB(elect) VERB(chaos) VERB(wait)
// clang-format on
#define VERB(name) [[nodiscard]] int verb_##name(const Arguments& given, const Signals& signals);
QUORUM_LOCK_VERBS(VERB)
#undef VERB

/// `given` must come from the command line alone: the verb checks the file of --config.
[[nodiscard]] int verb_config(const Arguments& given);
[[nodiscard]] int verb_completion(const Arguments& given);

}  // namespace redlock::cli
