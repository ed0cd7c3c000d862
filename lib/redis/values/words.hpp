#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::redis {

inline constexpr std::string_view end_of_line = "\r\n";

/// Appends the kind, the size and a line end: "*5\r\n" begins an array of five, "$3\r\n" a word of
/// three letters, and ":2\r\n" is the number 2.
void append_size(std::string& out, char kind, std::size_t size);

/// One word of a command, or of an answer.
void append_word(std::string& out, std::string_view word);

}  // namespace redlock::redis
