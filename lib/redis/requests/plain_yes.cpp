#include "redis/requests/plain_yes.hpp"

#include <cstddef>

#include "redis/requests/shared_call.hpp"

namespace redlock::redis {
namespace {

/// ":64\r\n"
struct CountLine {
  std::array<char, 5> letters{};
  std::size_t size = 0;
};
using CountLines = std::array<CountLine, SharedCall::most + 1>;

constexpr CountLines make_count_lines() {
  static_assert(SharedCall::most < 100, "two digits");
  CountLines lines{};
  for (std::size_t count = 0; count < lines.size(); ++count) {
    CountLine& line = lines[count];
    const auto digit = [](std::size_t number) { return static_cast<char>('0' + number); };
    line.letters[line.size++] = ':';
    if (count >= 10) line.letters[line.size++] = digit(count / 10);
    line.letters[line.size++] = digit(count % 10);
    line.letters[line.size++] = '\r';
    line.letters[line.size++] = '\n';
  }
  return lines;
}

constexpr CountLines count_lines = make_count_lines();

}  // namespace

std::string_view yes_to_all(std::size_t count) noexcept {
  const CountLine& line = count_lines.at(count);
  return {line.letters.data(), line.size};
}

}  // namespace redlock::redis
