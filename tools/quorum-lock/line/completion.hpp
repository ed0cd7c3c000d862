#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

/// The first word of a command line that asks for completions: what the files in tools/completion
/// call. The words of the command line follow, up to the one that is being written.
inline constexpr std::string_view completion_verb = "__complete";

/// What a shell may offer in place of the word that is being written.
struct Completion {
  enum class Kind {
    words,    ///< `words`, or nothing
    files,    ///< the names of files
    folders,  ///< the names of folders
    command,  ///< the word belongs to a command of its own
  };
  struct Word {
    std::string text;
    std::string_view description;  ///< a few words; may be empty
  };
  Kind kind = Kind::words;
  std::vector<Word> words{};
  std::size_t command = 0;  ///< the index of the command's first word
};

/// `words`: those after the name of the program; the last one is being written.
[[nodiscard]] Completion complete(const std::vector<std::string>& words);

/// For the files in tools/completion: the kind on the first line, "command 2" with its index; then
/// a line for each word, and its description after a tab.
[[nodiscard]] std::string as_lines(const Completion& completion);

}  // namespace redlock::cli
