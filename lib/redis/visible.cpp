#include "redis/visible.hpp"

#include <array>

namespace redlock::redis {
namespace {

constexpr std::string_view cut_mark = "...";

[[nodiscard]] constexpr bool is_control(unsigned char byte) noexcept {
  return byte < 0x20 || byte == 0x7f;
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
  // Where to cut if the rest turns out not to fit; always behind a whole escape.
  std::size_t last_cut = start;
  std::array<char, 4> storage{};
  unsigned char previous = 0;
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    // U+0080 to U+009F, which terminals obey as they obey ESC, begin with C2 in UTF-8.
    const bool is_c1 = previous == 0xc2 && byte >= 0x80 && byte < 0xa0;
    const std::string_view piece =
        is_control(byte) || is_c1 ? escaped(byte, storage) : std::string_view(&character, 1);
    if (out.size() - start + piece.size() > limit) {
      out.resize(last_cut);
      if (cut_mark.size() <= limit) out += cut_mark;
      return;
    }
    out += piece;
    if (out.size() - start + cut_mark.size() <= limit) last_cut = out.size();
    previous = byte;
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
