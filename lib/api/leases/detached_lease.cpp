#include "redlock/detached_lease.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

namespace redlock {
namespace {

/// The text form is `1,TOKEN,NUMBER,KIND,OWNER,RESOURCE…`. Bytes that are not in `plain` are
/// written in hexadecimal: `%2c`.
constexpr std::string_view form = "1";
constexpr std::string_view plain =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/:@+#=";

void append_escaped(std::string& text, std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char byte : bytes) {
    if (plain.find(byte) != std::string_view::npos) {
      text += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    text += {'%', digits[value >> 4U], digits[value & 15U]};
  }
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      if (plain.find(text[i]) == std::string_view::npos) return std::nullopt;
      bytes += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), value, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.end()) return std::nullopt;
    bytes += static_cast<char>(value);
    i += 2;
  }
  return bytes;
}

/// Removes blanks and newlines at both ends: text from a file or a pipe mostly ends with a newline.
std::string_view without_blanks_around(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The names of the kinds, in the order of Target::Kind.
constexpr std::array<std::string_view, 3> kinds{"exclusive", "shared", "owned"};
static_assert(static_cast<int>(Target::Kind::exclusive) == 0 &&
              static_cast<int>(Target::Kind::shared) == 1 &&
              static_cast<int>(Target::Kind::owned) == 2);

std::optional<Target::Kind> kind_from(std::string_view text) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == text) return static_cast<Target::Kind>(i);
  }
  return std::nullopt;
}

/// The fencing number; zero if the lease has none.
std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  if (text.empty() || error != std::errc() || end != text.end()) return std::nullopt;
  return number;
}

}  // namespace

std::string DetachedLease::str() const {
  if (resources.empty()) return {};
  std::string text(form);
  const auto append = [&text](std::string_view field) {
    text += ',';
    append_escaped(text, field);
  };
  append(token.view());
  append(std::to_string(fencing_token.value_or(FencingToken()).value()));
  const auto kind_index = static_cast<std::size_t>(kind);
  append(kind_index < kinds.size() ? kinds[kind_index] : kinds.front());
  append(owner);
  for (const std::string& resource : resources) append(resource);
  return text;
}

std::optional<DetachedLease> DetachedLease::parse(std::string_view text) {
  text = without_blanks_around(text);
  std::vector<std::string> fields;
  for (;;) {
    const std::size_t end = text.find(',');
    auto field = unescaped(text.substr(0, end));
    if (!field) return std::nullopt;
    fields.push_back(*std::move(field));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  constexpr std::size_t before_resources = 5;
  if (fields.size() <= before_resources || fields[0] != form) return std::nullopt;
  const auto token = Token::parse(fields[1]);
  const auto number = number_from(fields[2]);
  const auto kind = kind_from(fields[3]);
  if (!token || !number || !kind) return std::nullopt;
  DetachedLease lease;
  lease.token = *token;
  if (*number != 0) lease.fencing_token = FencingToken(*number);
  lease.kind = *kind;
  lease.owner = std::move(fields[4]);
  lease.resources.assign(std::make_move_iterator(fields.begin() + before_resources),
                         std::make_move_iterator(fields.end()));
  return lease;
}

}  // namespace redlock
