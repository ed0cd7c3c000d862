#include "redis/values/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace redlock::redis {
namespace {

constexpr std::size_t longest_size = 24;

char* write(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

/// Writes at most `longest_size` bytes.
char* write_size(char* to, char kind, std::size_t size) {
  *to = kind;
  return write(std::to_chars(to + 1, to + longest_size - end_of_line.size(), size).ptr,
               end_of_line);
}

}  // namespace

void append_size(std::string& out, char kind, std::size_t size) {
  std::array<char, longest_size> line;
  char* const end = write_size(line.data(), kind, size);
  out.append(line.data(), static_cast<std::size_t>(end - line.data()));
}

void append_word(std::string& out, std::string_view word) {
  constexpr std::size_t short_word = 128;
  if (word.size() > short_word) {
    append_size(out, '$', word.size());
    out.append(word).append(end_of_line);
    return;
  }
  // Nearly all words are short. One append for all: each append costs more than the letters.
  std::array<char, longest_size + short_word + end_of_line.size()> whole;
  char* const end = write(write(write_size(whole.data(), '$', word.size()), word), end_of_line);
  out.append(whole.data(), static_cast<std::size_t>(end - whole.data()));
}

}  // namespace redlock::redis
