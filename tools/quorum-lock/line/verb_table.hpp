#pragma once

#include <span>
#include <string_view>

namespace redlock::cli {

struct OptionText {
  std::string_view name;   ///< without dashes
  std::string_view value;  ///< the name of its value in the help; empty: a flag
  std::string_view help;
};

struct ExitText {
  std::string_view code;
  std::string_view meaning;
};

struct VerbText {
  std::string_view name;
  std::string_view usage;  ///< the words after the verb; a line for each form
  std::string_view summary;
  std::span<const OptionText> options;
  /// Indented lines stay as they are; others are one paragraph up to an empty line.
  std::string_view examples;
  /// Exit codes in addition to those of every verb.
  std::span<const ExitText> exits = {};
};

[[nodiscard]] std::span<const OptionText> global_options() noexcept;
[[nodiscard]] std::span<const VerbText> verbs() noexcept;
/// Null: there is no such verb.
[[nodiscard]] const VerbText* find_verb_text(std::string_view name) noexcept;

/// The end of `help options`, about the options that every verb takes.
[[nodiscard]] std::string_view options_footer() noexcept;

/// Ends the help of the program itself.
[[nodiscard]] std::string_view program_footer() noexcept;

}  // namespace redlock::cli
