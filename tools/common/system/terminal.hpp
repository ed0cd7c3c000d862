#pragma once

#include <sys/types.h>
#include <termios.h>

#include "common/system/descriptor.hpp"

namespace redlock::cli {

/// The controlling terminal, if there is one. A command in a process group of its own can read from
/// it only while its group is the foreground group; otherwise the kernel stops it.
class Terminal {
 public:
  Terminal() noexcept;

  [[nodiscard]] bool present() const noexcept { return tty_.valid(); }
  /// Whether this group is in the foreground; whether ours is.
  [[nodiscard]] bool held_by(pid_t group) const noexcept;
  [[nodiscard]] bool ours() const noexcept;

  /// The terminal that a command gets from its start, or -1: always -1 in a
  /// pipeline, whose other members, such as `less`, need the terminal too: there the command
  /// becomes foreground when it first uses the terminal.
  [[nodiscard]] int for_new_command() const noexcept;

  /// Only from the foreground: a background process does not own the terminal.
  void give_to(pid_t group) const noexcept;
  /// Only from this group: a command in the background has taken nothing from the shell.
  void take_back_from(pid_t group) const noexcept;

  /// Restores the terminal's settings from the start: a killed command leaves them changed.
  void restore_modes() const noexcept;

 private:
  Descriptor tty_;
  bool modes_known_ = false;
  termios modes_{};
};

/// Whether a shell is there that would continue this process after a stop.
[[nodiscard]] bool job_control_available() noexcept;

}  // namespace redlock::cli
