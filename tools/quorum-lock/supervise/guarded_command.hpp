#pragma once

#include <sys/types.h>

#include <deque>
#include <optional>
#include <variant>

#include "common/system/child_process.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// An event of a guarded command.
struct CommandEvent {
  enum class Kind : int {
    stopped,       ///< value: the signal that stopped it
    ended,         ///< value: its wait status
    nothing_left,  ///< neither the command runs nor anything that it has started
    refused,       ///< value: a process that was to be killed and cannot be signalled
    guard_lost,    ///< the guard was killed; the command is this process' child from now on
  } kind;
  int value;
};

/// A command in a process group of its own, and its guard, a small process between this one and the
/// command. The guard kills the command, and everything that the command has started and that still
/// runs, if this process ends without destroying this object, even by `kill -9`. If the guard
/// itself is killed, the command is killed too.
class GuardedCommand {
 public:
  /// Starts the command. The number is the errno of the call that failed.
  [[nodiscard]] static std::variant<GuardedCommand, int> start(const ChildRequest& request,
                                                               const Signals& signals);

  GuardedCommand(GuardedCommand&& other) noexcept;
  GuardedCommand& operator=(GuardedCommand&&) = delete;
  GuardedCommand(const GuardedCommand&) = delete;
  GuardedCommand& operator=(const GuardedCommand&) = delete;
  /// Dismisses the guard. Processes that still run go on.
  ~GuardedCommand();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Readable when there may be a next event. After `guard_lost`, ask for events after each SIGCHLD
  /// instead.
  [[nodiscard]] int fd() const noexcept { return link_.get(); }
  [[nodiscard]] std::optional<CommandEvent> next();

  enum class Delivery { done, refused };
  /// Sends the signal to all processes of the command's group, while the command runs. Refused:
  /// this process has no right to signal the command itself, or any process of the group at all.
  [[nodiscard]] Delivery signal_group(int signal) const noexcept;

  /// Sends SIGKILL to everything that the command has started and that still runs, until nothing is
  /// left.
  [[nodiscard]] Delivery kill_everything() const noexcept;

 private:
  GuardedCommand(pid_t pid, pid_t guard, Descriptor link) noexcept;
  /// Continues a guard that was stopped, which would never report the end of the command.
  void continue_guard() const noexcept;
  [[nodiscard]] std::optional<CommandEvent> lose_guard();
  [[nodiscard]] std::optional<CommandEvent> look_at_own_child();

  pid_t pid_;
  pid_t guard_;
  Descriptor link_;
  enum class Adopted { no, running, ended, all_reported } adopted_ = Adopted::no;
  enum class Number { ours, free_for_others } number_ = Number::ours;
};

}  // namespace redlock::cli
