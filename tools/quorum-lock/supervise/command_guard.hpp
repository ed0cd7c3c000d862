#pragma once

#include "common/system/exec_plan.hpp"

namespace redlock::cli {

/// An order of the lock's holder to the guard of its command.
enum class GuardOrder : char {
  kill,     ///< kill everything that runs
  dismiss,  ///< exit, and leave the command alone
};

/// Guards a command in a forked child: starts the command, reports its events on `link`
/// (CommandEvent; the first message is a pid_t, or the negative errno of a failure), and takes
/// orders. Calls nothing but async-signal-safe functions.
///
/// It lives outside the holder's process group and ignores every signal, so that nothing ends it
/// that ends the holder. Orphans of the command become its children if the system can do that, so
/// it finds all of them; on other systems it finds those in the command's process group.
[[noreturn]] void guard_command(const ExecPlan& plan, int link) noexcept;

}  // namespace redlock::cli
