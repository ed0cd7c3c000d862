#include "redis/releases.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "redis/scripts_embedded.hpp"
#include "support/assert.hpp"

namespace redlock::redis {
namespace {

constexpr std::string_view end_of_line = "\r\n";

constexpr std::size_t longest_size = 24;

char* write(char* to, std::string_view text) { return std::copy(text.begin(), text.end(), to); }

/// "*5", "$3": at most `longest_size` bytes.
char* write_size(char* to, char kind, std::size_t size) {
  *to = kind;
  return write(std::to_chars(to + 1, to + longest_size - end_of_line.size(), size).ptr,
               end_of_line);
}

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
  // Nearly all of them. Each append to the string costs more than its letters.
  std::array<char, longest_size + short_word + end_of_line.size()> whole;
  char* const end = write(write(write_size(whole.data(), '$', word.size()), word), end_of_line);
  out.append(whole.data(), static_cast<std::size_t>(end - whole.data()));
}

/// The words of the call that are always the same.
std::string beginning_of(core::ScriptForm form) {
  const bool by_digest = form == core::ScriptForm::digest;
  std::string words;
  append_word(words, by_digest ? "EVALSHA" : "EVAL");
  append_word(words, by_digest ? scripts::releases.sha1 : scripts::releases.text);
  return words;
}

}  // namespace

void Releases::add(std::string_view resource, std::string_view token) {
  REDLOCK_ASSERT(!full());
  append_word(resources_, resource);
  append_word(tokens_, token);
  ++count_;
}

std::string_view Releases::encode(core::ScriptForm form, core::Duration reserved_for) {
  static const std::string by_digest = beginning_of(core::ScriptForm::digest);
  static const std::string in_full = beginning_of(core::ScriptForm::text);
  constexpr std::size_t further_words = 4;
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(reserved_for).count();
  call_.clear();
  append_size(call_, '*', 2 * count_ + further_words);
  call_.append(form == core::ScriptForm::digest ? by_digest : in_full);
  append_word(call_, std::to_string(count_));
  call_.append(resources_).append(tokens_);
  append_word(call_, std::to_string(milliseconds));
  return call_;
}

void Releases::clear() noexcept {
  count_ = 0;
  resources_.clear();
  tokens_.clear();
}

}  // namespace redlock::redis
