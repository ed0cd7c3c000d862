#include "common/text/duration.hpp"

#include <fmt/format.h>

namespace redlock::cli {

std::string format_duration(std::chrono::nanoseconds duration) {
  const auto nanoseconds = static_cast<double>(duration.count());
  if (duration < std::chrono::milliseconds{1}) return fmt::format("{:.0f} µs", nanoseconds / 1e3);
  if (duration < std::chrono::seconds{1}) return fmt::format("{:.1f} ms", nanoseconds / 1e6);
  if (duration < std::chrono::minutes{10}) return fmt::format("{:.3f} s", nanoseconds / 1e9);
  return fmt::format("{:.1f} min", nanoseconds / 60e9);
}

}  // namespace redlock::cli
