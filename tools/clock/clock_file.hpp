#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "clock/setting.hpp"

namespace redlock::wall_clock {

/// The wall clock of other programs, moved while they run: the file that preload_linux.cpp reads in
/// each of them. Their monotonic clocks stay those of the machine.
class ClockFile {
 public:
  /// Makes the file, with the machine's time, or, with a drift, a clock that goes from now on by so
  /// many microseconds in each second faster or, below zero, slower. Throws std::system_error.
  explicit ClockFile(const std::filesystem::path& file,
                     std::chrono::microseconds drift_per_second = std::chrono::microseconds{0});

  /// The variables that a program needs in its environment to follow the clock file. `preload` is
  /// the built library.
  [[nodiscard]] std::vector<std::string> environment(const std::filesystem::path& preload) const;

  /// From now on the clock is this far from the machine's. A program sees either the old time or
  /// the new one.
  void move(std::chrono::nanoseconds from_machine) const noexcept;

 private:
  struct Unmap {
    void operator()(Setting* setting) const noexcept;
  };

  std::filesystem::path file_;
  std::unique_ptr<Setting, Unmap> setting_;
};

}  // namespace redlock::wall_clock
