#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/system/child_process.hpp"
#include "common/system/child_signals.hpp"
#include "common/system/descriptor.hpp"

namespace redlock::cli {

/// All that a forked child needs to become another program, made before the fork: other threads may
/// hold any lock at that moment, so the child calls nothing but async-signal-safe functions.
class ExecPlan {
 public:
  /// Refers to both arguments. Throws std::system_error.
  ExecPlan(const ChildRequest& request, const ChildSignals& signals);

  /// For the child of `parent`: a process group of its own, the terminal, the signals, and then the
  /// program. It is killed when its parent dies, which has called platform::expect_child().
  [[noreturn]] void become(pid_t parent) const noexcept;

  /// For the parent, after the fork: 0 when the program runs, else the errno of what failed.
  [[nodiscard]] int wait_for_exec() noexcept;

 private:
  [[noreturn]] static void give_up(int report) noexcept;
  /// Variables of systemd that name this process name the child instead: sd_listen_fds() and
  /// sd_watchdog_enabled() ignore what is for another process.
  void name_child_in_environment() const noexcept;

  const ChildRequest& request_;
  const ChildSignals& signals_;
  std::vector<std::string> shell_words_;
  std::vector<char*> arguments_;
  std::vector<char*> shell_arguments_;
  std::vector<char*> environment_;
  std::vector<std::string> for_this_process_;  ///< entries of environment_, with room for any pid
  Descriptor null_device_;
  Descriptor report_source_;
  Descriptor report_sink_;
};

}  // namespace redlock::cli
