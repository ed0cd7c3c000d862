#pragma once

#include "quorum-lock/exec_plan.hpp"

namespace redlock::cli {

/// What the holder of the lock tells the guard of its command.
enum class GuardOrder : char {
  kill,     ///< kill everything that runs
  dismiss,  ///< the command is nobody's business any more: go
};

/// What a forked child does to guard a command: it starts the command, reports on `link` what
/// happens to it (CommandEvent; the first message is a pid_t, or the negative errno of what
/// failed), and takes orders. Calls nothing but async-signal-safe functions.
///
/// It lives outside the holder's process group and ignores every signal, so that nothing ends it
/// that ends the holder. Orphans among what the command started become its children
/// (PR_SET_CHILD_SUBREAPER), which is how it finds all of them.
[[noreturn]] void guard_command(const ExecPlan& plan, int link) noexcept;

}  // namespace redlock::cli
