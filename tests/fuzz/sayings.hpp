#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::fuzz {

/// Answers that servers may give. # is the number that was asked for, ~ and ^ for the one before
/// (^: in a bulk), @ for the token and ! for the time in seconds, both in a bulk.
inline constexpr std::array<std::string_view, 46> sayings{
    "+OK\r\n",
    "$-1\r\n",
    ":1\r\n",
    ":0\r\n",
    ":2\r\n",
    ":-1\r\n",
    ":-2\r\n",
    ":5000\r\n",
    ":9223372036854775807\r\n",
    "$5\r\nother\r\n",
    "@",
    "$0\r\n\r\n",
    "-ERR no\r\n",
    "-NOSCRIPT No matching script\r\n",
    "-WRONGTYPE Operation against a key\r\n",
    "-OOM command not allowed\r\n",
    "-NOPERM no\r\n",
    "*2\r\n:1\r\n:#\r\n",
    "*2\r\n:2\r\n:#\r\n",
    "*2\r\n:2\r\n:9007199254740991\r\n",
    "*2\r\n:2\r\n:9007199254740990\r\n",
    "*2\r\n:1\r\n:~\r\n",
    "*2\r\n:1\r\n:0\r\n",
    "*3\r\n:-1\r\n$5\r\nother\r\n:700\r\n",
    "*3\r\n:-1\r\n$0\r\n\r\n:-1\r\n",
    "*2\r\n^^",
    "*2\r\n$-1\r\n^",
    "*2\r\n^$-1\r\n",
    "*2\r\n$-1\r\n$-1\r\n",
    "*2\r\n$16\r\n9007199254740991\r\n$3\r\n1e3\r\n",
    "*2\r\n$3\r\ninf\r\n$4\r\n-inf\r\n",
    "*2\r\n!$1\r\n0\r\n",
    "*2\r\n!$6\r\n999999\r\n",
    "*2\r\n$10\r\n1700000100\r\n$1\r\n0\r\n",
    "*2\r\n$10\r\n9000000000\r\n$1\r\n0\r\n",
    "*2\r\n$1\r\n0\r\n$1\r\n0\r\n",
    "*5\r\n$5\r\nother\r\n:700\r\n$6\r\nstring\r\n:5000\r\n:-2\r\n",
    "*5\r\n$-1\r\n:-2\r\n$4\r\nnone\r\n:0\r\n:-2\r\n",
    "*5\r\n$-1\r\n:-1\r\n$4\r\nhash\r\n:9223372036854775807\r\n:9223372036854775807\r\n",
    "*0\r\n",
    "*1\r\n:1\r\n",
    "$1\r\n0\r\n",
    ":3\r\n",
    "*8\r\n$-1\r\n:700\r\n$4\r\nzset\r\n:0\r\n:-2\r\n$16\r\n6:shared1:a0:1:b\r\n:3\r\n:0\r\n",
    "*8\r\n$-1\r\n:700\r\n$4\r\nzset\r\n:0\r\n:-2\r\n$10\r\n8:owner me\r\n:0\r\n:1\r\n",
    "*8\r\n$-1\r\n:700\r\n$4\r\nzset\r\n:0\r\n:-2\r\n$12\r\n6:shared9:a0\r\n:1\r\n:0\r\n"};

/// The meaning of the signs.
struct Words {
  std::uint64_t number = 0;
  std::string token{};
  std::int64_t seconds = 0;
};

[[nodiscard]] inline std::string bulk_of(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

[[nodiscard]] inline std::string said(std::string_view saying, const Words& words) {
  const std::string one_less =
      std::to_string(words.number - std::min<std::uint64_t>(words.number, 1));
  std::string text;
  for (const char c : saying) {
    if (c == '#') {
      text += std::to_string(words.number);
    } else if (c == '~') {
      text += one_less;
    } else if (c == '^') {
      text += bulk_of(one_less);
    } else if (c == '@') {
      text += words.token.empty() ? "$-1\r\n" : bulk_of(words.token);
    } else if (c == '!') {
      text += bulk_of(std::to_string(words.seconds));
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace redlock::fuzz
