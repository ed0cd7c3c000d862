#pragma once

#include <span>
#include <string_view>

namespace redlock::cli {

struct OptionText {
  std::string_view name;   ///< without dashes
  std::string_view value;  ///< the name of its value in the help; empty: a flag
  std::string_view help;
};

struct VerbText {
  std::string_view name;
  std::string_view usage;  ///< what follows the verb
  std::string_view summary;
  std::span<const OptionText> options;
  /// Belong to the verb, but their function is not in this version: refused by name, so that no
  /// script believes that it got what it asked for.
  std::span<const OptionText> later;
  std::string_view examples;
};

[[nodiscard]] std::span<const OptionText> global_options() noexcept;
[[nodiscard]] std::span<const VerbText> verbs() noexcept;

/// Ends the help of the program itself.
[[nodiscard]] std::string_view program_footer() noexcept;

}  // namespace redlock::cli
