#include "redis/words.hpp"

#include <array>
#include <charconv>

namespace redlock::redis {

void append_size(std::string& out, char kind, std::size_t size) {
  std::array<char, 24> line;
  line[0] = kind;
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 2, size).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(line.data(), static_cast<std::size_t>(end - line.data()));
}

void append_word(std::string& out, std::string_view word) {
  append_size(out, '$', word.size());
  out.append(word).append(end_of_line);
}

}  // namespace redlock::redis
