#include "core/vocabulary/durations.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace redlock::core {

std::string format_duration(Duration duration) {
  using namespace std::chrono_literals;
  const auto within = [duration](Duration limit) { return -limit < duration && duration < limit; };
  // No exponents, because the text is for people.
  if (duration != 0ns && within(1us)) return std::to_string(duration.count()) + " ns";
  // Rounded by hand, because std::chrono::round overflows on the least duration.
  if (!within(1000s)) {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
    const auto rest = duration - whole;
    const int up = rest >= 500ms ? 1 : rest <= -500ms ? -1 : 0;
    return std::to_string(whole.count() + up) + " s";
  }
  const bool seconds = !within(1s);
  const double number = seconds ? std::chrono::duration<double>(duration).count()
                                : std::chrono::duration<double, std::milli>(duration).count();
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g %s", number, seconds ? "s" : "ms");
  return text.data();
}

std::string no_connection_within(Duration limit) {
  return "no connection within " + format_duration(limit) + " (connect timeout)";
}

}  // namespace redlock::core
