#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {

enum class OptionKind { nodes, flag, text, duration, number, list };

/// By the name of its value in the help.
[[nodiscard]] OptionKind kind_of(const OptionText& option) noexcept;

/// "off" of DURATION|off; empty: there is no such word.
[[nodiscard]] std::string_view word_instead(const OptionText& option) noexcept;

/// The values that the option can have in a configuration file, for people.
[[nodiscard]] std::string allowed_in_file(const OptionText& option);

/// Whether it can have a default in a configuration file. Some only make sense for one command.
[[nodiscard]] bool may_have_default(const OptionText& option) noexcept;

/// Whether the configuration file can have a table for it.
[[nodiscard]] bool may_have_table(const VerbText& verb) noexcept;

/// The global options, and those of a verb that may stand in its table.
[[nodiscard]] std::vector<OptionText> global_defaults();
[[nodiscard]] std::vector<OptionText> own_defaults(const VerbText& verb);

}  // namespace redlock::cli
