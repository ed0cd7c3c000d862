#include "redis/values/short_reply.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace redlock::redis {
namespace {

constexpr std::size_t line_end_size = 2;
// Tokens, names and markers fit; longer texts are rare.
constexpr std::int64_t longest_bulk = 1024;

bool ends_at(std::string_view bytes, std::size_t at) noexcept {
  return bytes.size() >= at + line_end_size && bytes[at] == '\r' && bytes[at + 1] == '\n';
}

/// The number in a text short enough not to overflow. -1: not all letters are digits.
std::int64_t read_digits(std::string_view text) noexcept {
  std::int64_t number = 0;
  for (const char letter : text) {
    if (letter < '0' || letter > '9') return -1;
    number = number * 10 + (letter - '0');
  }
  return number;
}

struct Number {
  std::int64_t value = 0;
  std::size_t end = 0;  // the position after its line; 0: not a number as Redis writes it
};

Number read_number(std::string_view bytes) noexcept {
  constexpr std::size_t most_digits = 18;  // all of them fit
  const bool negative = bytes.size() > 1 && bytes[1] == '-';
  const std::size_t first = negative ? 2 : 1;
  const std::size_t last = std::min(bytes.size(), first + most_digits);
  Number number;
  std::size_t at = first;
  for (; at < last && bytes[at] >= '0' && bytes[at] <= '9'; ++at) {
    number.value = number.value * 10 + (bytes[at] - '0');
  }
  if (at == first || !ends_at(bytes, at)) return {};
  const bool needless_zero = bytes[first] == '0' && (negative || at > first + 1);
  if (needless_zero) return {};
  if (negative) number.value = -number.value;
  number.end = at + line_end_size;
  return number;
}

std::size_t read_bulk(std::string_view bytes, Value& value) {
  const Number length = read_number(bytes);
  if (length.end == 0) return 0;
  if (length.value == -1) {
    value.type = Value::Type::nil;
    return length.end;
  }
  if (length.value < 0 || length.value > longest_bulk) return 0;
  const auto size = static_cast<std::size_t>(length.value);
  if (!ends_at(bytes, length.end + size)) return 0;
  value.type = Value::Type::bulk;
  value.text.assign(bytes.data() + length.end, size);
  return length.end + size + line_end_size;
}

std::size_t read_integer(std::string_view bytes, Value& value) noexcept {
  const Number number = read_number(bytes);
  if (number.end == 0) return 0;
  value.type = Value::Type::integer;
  value.integer = number.value;
  return number.end;
}

std::size_t read_status(std::string_view bytes, Value& value) {
  constexpr std::string_view ok = "+OK\r\n";
  if (!bytes.starts_with(ok)) return 0;
  value.type = Value::Type::status;
  value.text.assign("OK");
  return ok.size();
}

std::size_t read_null(std::string_view bytes, Value& value) noexcept {
  if (!ends_at(bytes, 1)) return 0;
  value.type = Value::Type::nil;
  return 1 + line_end_size;
}

/// Reads a double letter by letter, as the bulk that RESP2 has for it.
std::size_t read_double(std::string_view bytes, Value& value) {
  constexpr std::size_t longest = 32;
  const std::size_t end = bytes.substr(0, longest).find('\r');
  if (end == std::string_view::npos || !ends_at(bytes, end)) return 0;
  value.type = Value::Type::bulk;
  value.text.assign(bytes.data() + 1, end - 1);
  return end + line_end_size;
}

}  // namespace

std::size_t read_short_value(std::string_view bytes, Value& value, Protocol protocol) {
  if (bytes.empty()) return 0;
  switch (bytes[0]) {
    case '_':
      return protocol == Protocol::resp3 ? read_null(bytes, value) : 0;
    case ',':
      return protocol == Protocol::resp3 ? read_double(bytes, value) : 0;
    case '$':
      return read_bulk(bytes, value);
    case ':':
      return read_integer(bytes, value);
    case '+':
      return read_status(bytes, value);
    default:
      return 0;
  }
}

std::size_t read_short_array(std::string_view bytes) noexcept {
  if (bytes.size() < short_array_header || bytes[0] != '*' || !ends_at(bytes, 2)) return 0;
  return bytes[1] >= '1' && bytes[1] <= '9' ? static_cast<std::size_t>(bytes[1] - '0') : 0;
}

std::size_t read_time(std::string_view bytes, std::chrono::microseconds& time) noexcept {
  // The seconds of these years have ten digits, and nanoseconds of more do not fit.
  constexpr std::string_view before_seconds = "*2\r\n$10\r\n";
  constexpr std::size_t digits_of_seconds = 10;
  constexpr std::int64_t first_second = 1'000'000'000;
  constexpr std::int64_t last_second = 9'000'000'000;
  constexpr std::size_t before_micros = 6;  // "\r\n$6\r\n"
  constexpr std::size_t micros_at = before_seconds.size() + digits_of_seconds + before_micros;
  if (bytes.size() <= micros_at) return 0;
  if (std::memcmp(bytes.data(), before_seconds.data(), before_seconds.size()) != 0) return 0;
  const std::int64_t seconds = read_digits(bytes.substr(before_seconds.size(), digits_of_seconds));
  if (seconds < first_second || seconds > last_second) return 0;
  const std::string_view size =
      bytes.substr(before_seconds.size() + digits_of_seconds, before_micros);
  if (!ends_at(size, 0) || size[2] != '$' || size[3] < '1' || size[3] > '6' || !ends_at(size, 4)) {
    return 0;
  }
  const auto digits = static_cast<std::size_t>(size[3] - '0');
  if (!ends_at(bytes, micros_at + digits)) return 0;
  const std::int64_t micros = read_digits(bytes.substr(micros_at, digits));
  if (micros < 0) return 0;
  time = std::chrono::seconds(seconds) + std::chrono::microseconds(micros);
  return micros_at + digits + line_end_size;
}

}  // namespace redlock::redis
