#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::chaos {

/// The wall clock of one server, moved while it runs, by libfaketime. Its monotonic clocks stay
/// those of the machine.
class FaultClock {
 public:
  [[nodiscard]] static bool available();

  /// What a server's environment needs, so that it follows the file.
  [[nodiscard]] static std::vector<std::string> environment(const std::filesystem::path& file);

  /// From now on the clock is this far from the machine's. Throws std::runtime_error.
  static void move(const std::filesystem::path& file, std::chrono::milliseconds from_machine);

  /// What libfaketime leaves in shared memory when its process is killed.
  static void remove_traces(pid_t pid) noexcept;
};

}  // namespace redlock::chaos
