#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

inline constexpr std::string_view duration_form =
    "a whole number with a unit (us, ms, s, m, h), for example 250ms, 10s or 2m";

struct ParsedDuration {
  std::optional<std::chrono::nanoseconds> value{};
  std::string_view problem{};  ///< why there is no value
};

/// A bare number is refused: whether it means seconds or milliseconds is what people get wrong.
[[nodiscard]] constexpr ParsedDuration parse_duration(std::string_view text) noexcept {
  struct Unit {
    std::string_view name;
    std::chrono::nanoseconds length;
  };
  constexpr Unit units[] = {{"us", std::chrono::microseconds{1}},
                            {"ms", std::chrono::milliseconds{1}},
                            {"s", std::chrono::seconds{1}},
                            {"m", std::chrono::minutes{1}},
                            {"h", std::chrono::hours{1}}};
  constexpr auto most = std::chrono::nanoseconds::max().count();

  if (text.starts_with('-')) return {{}, "is negative"};
  std::chrono::nanoseconds::rep number = 0;
  std::size_t digits = 0;
  bool overflow = false;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    const int digit = text[digits] - '0';
    overflow = overflow || number > (most - digit) / 10;
    if (!overflow) number = number * 10 + digit;
  }
  if (digits == 0) return {{}, "is no duration"};
  const std::string_view suffix = text.substr(digits);
  if (suffix.empty()) return {{}, "has no unit"};
  for (const Unit& unit : units) {
    if (suffix != unit.name) continue;
    if (overflow || number > most / unit.length.count()) return {{}, "is too long to be counted"};
    return {number * unit.length, {}};
  }
  return {{}, "is no duration"};
}

/// For people: three or four digits, in the unit that suits.
[[nodiscard]] std::string format_duration(std::chrono::nanoseconds duration);

}  // namespace redlock::cli
