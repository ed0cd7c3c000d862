#include "redis/values/visible.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

namespace redlock::redis {
namespace {

constexpr std::string_view cut_mark = "...";

[[nodiscard]] constexpr bool is_control(unsigned char byte) noexcept {
  return byte < 0x20 || byte == 0x7f;
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

/// Beyond ASCII: C1 controls, which terminals obey like ESC, and Unicode's format controls, which
/// reorder the text around them or cannot be seen.
constexpr Range hidden[] = {
    {0x80, 0x9F},     {0xAD, 0xAD},       {0x61C, 0x61C},     {0x180E, 0x180E},
    {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},   {0xFEFF, 0xFEFF},
    {0xFFF9, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

/// The size in bytes of the hidden character at the beginning of the text; 0: the text begins with
/// another character, or not with UTF-8.
[[nodiscard]] std::size_t hidden_size(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  if (size == 1 || text.size() < size) return 0;
  std::uint32_t value = first & (0xffU >> (size + 1));
  for (const char character : text.substr(1, size - 1)) {
    const auto byte = static_cast<unsigned char>(character);
    if ((byte & 0xc0U) != 0x80) return 0;
    value = (value << 6U) | (byte & 0x3fU);
  }
  const bool found = std::any_of(std::begin(hidden), std::end(hidden), [value](const Range& range) {
    return value >= range.first && value <= range.last;
  });
  return found ? size : 0;
}

[[nodiscard]] std::string_view escaped(unsigned char byte, std::array<char, 4>& storage) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (byte) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      storage = {'\\', 'x', digits[byte >> 4U], digits[byte & 0x0fU]};
      return {storage.data(), storage.size()};
  }
}

}  // namespace

void append_visible(std::string& out, std::string_view text, std::size_t limit) {
  const std::size_t start = out.size();
  // Where to cut if the rest turns out not to fit; always after a whole escape.
  std::size_t last_cut = start;
  std::array<char, 4> storage{};
  std::size_t still_hidden = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (still_hidden == 0) still_hidden = hidden_size(text.substr(i));
    const bool escape = is_control(byte) || still_hidden != 0;
    const std::string_view piece = escape ? escaped(byte, storage) : text.substr(i, 1);
    if (still_hidden != 0) --still_hidden;
    if (out.size() - start + piece.size() > limit) {
      out.resize(last_cut);
      if (cut_mark.size() <= limit) out += cut_mark;
      return;
    }
    out += piece;
    if (out.size() - start + cut_mark.size() <= limit) last_cut = out.size();
  }
}

std::string visible(std::string_view text, std::size_t limit) {
  std::string out;
  append_visible(out, text, limit);
  return out;
}

std::string_view without_secrets(std::string_view message, std::string_view password) noexcept {
  message = message.substr(0, message.find(", with args"));
  if (password.empty() || message.find(password) == std::string_view::npos) return message;
  const std::string_view kind = message.substr(0, message.find(' '));
  return kind.find(password) == std::string_view::npos ? kind : "an error with the password in it";
}

}  // namespace redlock::redis
