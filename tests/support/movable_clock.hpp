#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::test {

/// The wall clock of one program, moved while it runs, by libfaketime. Its monotonic clocks stay
/// those of the machine.
class MovableClock {
 public:
  /// Whether libfaketime is installed; a test that needs it is skipped where it is not.
  [[nodiscard]] static bool available();

  /// Starts with the machine's time. The file appears next to others of the program.
  explicit MovableClock(std::filesystem::path file);

  /// What the program's environment needs.
  [[nodiscard]] std::vector<std::string> environment() const;

  /// From now on the program's clock is this far from the machine's. It sees either the old time or
  /// the new one.
  void move(std::chrono::seconds from_machine) const;

  /// What libfaketime leaves in shared memory when its process is killed.
  static void remove_traces(pid_t pid) noexcept;

 private:
  std::filesystem::path file_;
};

}  // namespace redlock::test
