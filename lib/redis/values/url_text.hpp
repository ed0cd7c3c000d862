#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Helpers that read the parts of a URL.
namespace redlock::redis {

/// The problem; none: the URL is valid.
using Complaint = std::optional<std::string>;

/// Hides text that may be a password.
inline constexpr std::string_view mask = "***";

[[nodiscard]] constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// The whole of `text` as a number within bounds.
template <typename Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text, Number least, Number most) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || text.empty() || !is_digit(text.front()) ||
      number < least || number > most) {
    return std::nullopt;
  }
  return number;
}

[[nodiscard]] inline int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

[[nodiscard]] inline std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t index = 0; index < text.size(); ++index) {
    if (text[index] != '%') {
      out += text[index];
      continue;
    }
    if (index + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[index + 1]);
    const int low = hex_value(text[index + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    index += 2;
  }
  return out;
}

[[nodiscard]] inline std::pair<std::string_view, std::string_view> split_at(std::string_view text,
                                                                            std::size_t position) {
  if (position == std::string_view::npos) return {text, {}};
  return {text.substr(0, position), text.substr(position + 1)};
}

}  // namespace redlock::redis
