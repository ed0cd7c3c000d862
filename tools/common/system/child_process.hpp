#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/system/child_signals.hpp"

namespace redlock::cli {

/// The program that execvp() would run: found along PATH, executable. No value: `problem` is ENOENT
/// or EACCES.
struct FoundProgram {
  std::string path{};
  int problem = 0;
};
[[nodiscard]] FoundProgram find_program(const std::string& name);

struct ChildRequest {
  std::string program{};
  std::vector<std::string> arguments{};    ///< argv, the program's name first
  std::vector<std::string> environment{};  ///< "NAME=value", all of it
  enum class Streams { inherited, none } streams = Streams::inherited;
  int input = -1;     ///< becomes its standard input; -1: as `streams` says
  int output = -1;    ///< becomes its standard output; -1: as `streams` says
  int terminal = -1;  ///< a terminal whose foreground the child takes; -1: none
};

/// A child in a process group of its own, which is killed when this process dies, however it dies.
/// Must be started by a thread that lives longer: Linux ties the child's life to the thread.
/// Does not end the child when destroyed.
class ChildProcess {
 public:
  /// The number is the errno of what failed.
  [[nodiscard]] static std::variant<ChildProcess, int> start(const ChildRequest& request,
                                                             const ChildSignals& signals);

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  explicit ChildProcess(pid_t pid) noexcept : pid_(pid) {}
  pid_t pid_;
};

/// The environment of this process with `additions` in place of variables of the same names, and
/// without the variables named in `removals`.
[[nodiscard]] std::vector<std::string> environment_with(
    const std::vector<std::string>& additions, const std::vector<std::string_view>& removals);

/// The environment for a process that this program starts for itself, with `additions`. Variables
/// named QUORUM_LOCK_… are left out: they are meant for this process, and one holds a password.
[[nodiscard]] std::vector<std::string> environment_of_helper(
    const std::vector<std::string>& additions = {});

}  // namespace redlock::cli
