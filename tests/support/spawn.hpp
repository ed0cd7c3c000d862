#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace redlock::test {

enum class ProcessGroup { inherited, own };

struct SpawnRequest {
  /// argv; the first is the program, looked up in PATH.
  std::vector<std::string> arguments{};
  /// "NAME=value" additions, which replace inherited ones of the same name.
  std::vector<std::string> environment{};
  /// Working directory; the caller's own when empty.
  std::filesystem::path directory{};
  /// Descriptors for the standard streams; -1 is /dev/null.
  int input = -1;
  int output = -1;
  int errors = -1;
  ProcessGroup group = ProcessGroup::inherited;
};

/// Starts a program that dies with this process, however this process ends, and returns its pid,
/// which the caller must reap. Throws std::system_error when it cannot be executed. Callable from
/// any thread: the kernel ties the child's life to the *thread* that forked it, so one thread that
/// lives as long as the process does all the forking.
[[nodiscard]] pid_t spawn(const SpawnRequest& request);

}  // namespace redlock::test
