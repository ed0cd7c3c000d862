#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/system/descriptor.hpp"
#include "redlock/clock.hpp"

namespace redlock::chaos {

[[nodiscard]] std::int64_t nanoseconds(BootClock::time_point instant) noexcept;
[[nodiscard]] std::int64_t boot_now() noexcept;

/// A history file that is only appended to, one write() per record: a process killed at any moment
/// leaves whole records and at most one that lacks its end. The records are described in
/// checker_history.hpp. May be used by several threads.
class Recorder {
 public:
  /// Throws std::system_error.
  explicit Recorder(const std::filesystem::path& file);

  /// Without the line end.
  void write(std::string_view record) const;

 private:
  cli::Descriptor file_;
};

}  // namespace redlock::chaos
