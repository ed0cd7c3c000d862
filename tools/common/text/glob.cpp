#include "common/text/glob.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace redlock::cli {
namespace {

constexpr std::string_view special_in_globs = "*?[";

/// The part of a glob that matches one character.
struct GlobStep {
  bool matches = false;
  std::size_t size = 0;  ///< of the step in the glob
};

std::size_t escaped_at(std::string_view glob, std::size_t at) noexcept {
  return glob[at] == '\\' && at + 1 < glob.size() ? at + 1 : at;
}

/// `glob` begins after the bracket. As in Redis, the end of the glob closes a class, too.
GlobStep match_class(std::string_view glob, unsigned char letter) noexcept {
  std::size_t at = 0;
  const bool negated = !glob.empty() && glob[0] == '^';
  if (negated) ++at;
  bool found = false;
  while (at < glob.size() && glob[at] != ']') {
    const bool is_escaped = escaped_at(glob, at) != at;
    at = escaped_at(glob, at);
    auto first = static_cast<unsigned char>(glob[at]);
    auto last = first;
    if (!is_escaped && at + 2 < glob.size() && glob[at + 1] == '-') {
      at += 2;
      last = static_cast<unsigned char>(glob[at]);
    }
    if (first > last) std::swap(first, last);
    found = found || (first <= letter && letter <= last);
    ++at;
  }
  return {found != negated, std::min(at + 1, glob.size())};
}

/// `glob` is not empty and does not begin with an asterisk.
GlobStep match_one(std::string_view glob, char letter) noexcept {
  if (glob[0] == '?') return {true, 1};
  if (glob[0] == '[') {
    const GlobStep step = match_class(glob.substr(1), static_cast<unsigned char>(letter));
    return {step.matches, step.size + 1};
  }
  const std::size_t at = escaped_at(glob, 0);
  return {glob[at] == letter, at + 1};
}

}  // namespace

bool looks_like_glob(std::string_view word) noexcept {
  return word.find_first_of(special_in_globs) != std::string_view::npos;
}

bool is_literal_glob(std::string_view glob) noexcept {
  for (std::size_t at = 0; at < glob.size(); ++at) {
    if (special_in_globs.find(glob[at]) != std::string_view::npos) return false;
    at = escaped_at(glob, at);
  }
  return true;
}

std::string unescaped_glob(std::string_view glob) {
  std::string text;
  for (std::size_t at = 0; at < glob.size(); ++at) {
    at = escaped_at(glob, at);
    text += glob[at];
  }
  return text;
}

std::string escaped_glob(std::string_view text) {
  std::string glob;
  for (const char letter : text) {
    if (letter == '\\' || special_in_globs.find(letter) != std::string_view::npos) glob += '\\';
    glob += letter;
  }
  return glob;
}

bool matches_glob(std::string_view glob, std::string_view text) noexcept {
  struct Retry {
    std::string_view glob;
    std::string_view text;
  };
  // The last asterisk: the glob after it, and the text that it has not matched yet. An earlier one
  // need not be tried again.
  std::optional<Retry> asterisk;
  for (;;) {
    if (!glob.empty() && glob[0] == '*') {
      glob.remove_prefix(1);
      asterisk = {glob, text};
      continue;
    }
    if (glob.empty() && text.empty()) return true;
    const GlobStep step = glob.empty() || text.empty() ? GlobStep{} : match_one(glob, text.front());
    if (step.matches) {
      glob.remove_prefix(step.size);
      text.remove_prefix(1);
      continue;
    }
    if (!asterisk || asterisk->text.empty()) return false;
    asterisk->text.remove_prefix(1);
    glob = asterisk->glob;
    text = asterisk->text;
  }
}

}  // namespace redlock::cli
