#include "common/text/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace redlock::cli {
namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;  // 0: the bytes are not UTF-8
};

CodePoint decode(std::string_view bytes) {
  const auto byte_at = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte_at(0);
  if (first < 0x80) return {first, 1};
  std::size_t length = 0;
  if ((first & 0xE0) == 0xC0) length = 2;
  if ((first & 0xF0) == 0xE0) length = 3;
  if ((first & 0xF8) == 0xF0) length = 4;
  if (length == 0 || bytes.size() < length) return {};
  auto value = static_cast<std::uint32_t>(first & (0xFF >> (length + 1)));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte_at(i) & 0x3FU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[length] || value > 0x10FFFF || surrogate) return {};
  return {value, length};
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

/// Controls, and what Unicode calls format controls: some reorder the text around them, the others
/// cannot be seen.
constexpr Range escaped_ranges[] = {
    {0x00, 0x1F},       {0x7F, 0x9F}, {0xAD, 0xAD},  // soft hyphen
    {0x61C, 0x61C},                                  // Arabic letter mark
    {0x180E, 0x180E},                                // Mongolian vowel separator
    {0x200B, 0x200F},                                // zero width, direction marks
    {0x2028, 0x202E},    // line and paragraph separators, embeddings, overrides
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // interlinear annotation
    {0x1BCA0, 0x1BCA3},  // shorthand
    {0x1D173, 0x1D17A},  // musical notation
    {0xE0000, 0xE0FFF},  // tags, variation selectors
};

bool is_control(std::uint32_t code_point) {
  return std::any_of(std::begin(escaped_ranges), std::end(escaped_ranges),
                     [code_point](const Range& range) {
                       return code_point >= range.first && code_point <= range.last;
                     });
}

enum class Controls { kept, escaped };

std::string escaped(std::string_view bytes, Controls controls) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const CodePoint point = decode(bytes);
    const bool keep = point.length != 0 && (controls == Controls::kept || !is_control(point.value));
    const std::size_t length = point.length == 0 ? 1 : point.length;
    if (keep) {
      out.append(bytes.substr(0, length));
    } else {
      for (const char byte : bytes.substr(0, length)) {
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    bytes.remove_prefix(length);
  }
  return out;
}

struct Password {
  std::size_t begin;
  std::size_t size;
};

std::optional<Password> find_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t authority = scheme == std::string_view::npos ? 0 : scheme + 3;
  // The last '@' of all, not of the authority: a password with an unescaped '/' must be caught too.
  const std::size_t at = url.rfind('@');
  if (at == std::string_view::npos || at < authority) return std::nullopt;
  const std::size_t colon = url.substr(0, at).find(':', authority);
  if (colon == std::string_view::npos || colon + 1 == at) return std::nullopt;
  return Password{colon + 1, at - colon - 1};
}

}  // namespace

std::string as_utf8(std::string_view bytes) { return escaped(bytes, Controls::kept); }

std::string as_printable(std::string_view bytes) { return escaped(bytes, Controls::escaped); }

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto whole = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(whole);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     (whole - seconds).count());
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_@+:,./-";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return as_printable(word + "'");
}

namespace {

constexpr std::size_t wrapped_width = 96;

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// A part of the query of a URL that names sentinels.
constexpr std::string_view sentinel_password = "sentinel_password=";

}  // namespace

std::size_t width_of(std::string_view text) {
  // fmt pads by columns: what it adds to a width that no text reaches leaves the text's own.
  const std::size_t padded = 2 * text.size();
  return padded + text.size() - fmt::formatted_size("{:>{}}", text, padded);
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t end = 0;
  for (std::size_t next = 1; next < text.size(); ++next) {
    if (!begins_code_point(text[next])) continue;
    if (width_of(text.substr(0, next)) >= width) break;
    end = next;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t used = column;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (used > column && used + 1 + word.size() > wrapped_width) {
      out += '\n' + std::string(column, ' ');
      used = column;
    }
    if (used > column) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out + '\n';
}

std::string without_password(std::string_view url) {
  std::string result(url);
  if (const auto password = find_password(url))
    result.erase(password->begin - 1, password->size + 1);
  const std::size_t of_sentinels = result.find(sentinel_password);
  if (of_sentinels != std::string::npos) {
    const std::size_t begin = of_sentinels + sentinel_password.size();
    result.erase(begin, std::min(result.find('&', begin), result.size()) - begin);
  }
  return result;
}

bool has_password(std::string_view url) {
  return find_password(url).has_value() || url.find(sentinel_password) != std::string_view::npos;
}

}  // namespace redlock::cli
