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

struct VariableText {
  std::string_view names;  ///< with commas between them
  std::string_view help;
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

/// A line of the program's help: one verb or several, with commas between them.
struct VerbLine {
  std::string_view verbs;
  std::string_view what;
};
struct VerbGroup {
  std::string_view task;
  std::span<const VerbLine> lines;
};

/// Each verb once, by what people want to do.
[[nodiscard]] std::span<const VerbGroup> verb_groups() noexcept;
[[nodiscard]] std::span<const OptionText> global_options() noexcept;
[[nodiscard]] std::span<const VerbText> verbs() noexcept;
/// Null: there is no such verb.
[[nodiscard]] const VerbText* find_verb_text(std::string_view name) noexcept;

/// --help and --version.
[[nodiscard]] std::span<const OptionText> program_options() noexcept;
/// Exit codes of every verb, unless the verb's own table has the code.
[[nodiscard]] std::span<const ExitText> common_exits() noexcept;
/// The exit codes of all verbs, in short, in addition to the common ones.
[[nodiscard]] std::span<const ExitText> program_exits() noexcept;
/// Variables of the environment that are not options.
[[nodiscard]] std::span<const VariableText> variables() noexcept;

/// In a few words, without a full stop.
[[nodiscard]] std::string_view program_summary() noexcept;
/// How values are written.
[[nodiscard]] std::string_view rules_of_values() noexcept;
/// Which of the command line, the environment and the file overrides which.
[[nodiscard]] std::string_view rules_of_sources() noexcept;
/// The names of the variables of options.
[[nodiscard]] std::string_view rules_of_variables() noexcept;
[[nodiscard]] std::string_view program_examples() noexcept;

}  // namespace redlock::cli
