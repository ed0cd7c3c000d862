#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "clock/clock_file.hpp"

namespace redlock::chaos {

/// The wall clock of one server, moved while it runs.
class FaultClock {
 public:
  /// Writes what the server needs to follow it into the folder. Throws std::runtime_error.
  explicit FaultClock(const std::filesystem::path& folder);

  /// The variables of a server's environment that make it follow the clock.
  [[nodiscard]] std::vector<std::string> environment() const;

  /// Whether the server, which runs, has found what it was given. It does not if it is linked
  /// statically, or if programs cannot be run from the folder.
  [[nodiscard]] bool is_followed_by(pid_t server) const;

  /// From now on the clock is this far from the machine's.
  void move(std::chrono::milliseconds from_machine) const noexcept { clock_.move(from_machine); }

 private:
  std::filesystem::path preload_;
  std::filesystem::path file_;
  wall_clock::ClockFile clock_;
};

}  // namespace redlock::chaos
