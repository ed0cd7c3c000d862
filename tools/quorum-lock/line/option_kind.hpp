#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {

enum class OptionKind { nodes, flag, text, duration, number, list };

/// The kind of the option, by the name of its value in the help.
[[nodiscard]] OptionKind kind_of(const OptionText& option) noexcept;

/// The word that can stand in place of a value, such as "off" in DURATION|off; empty: there is
/// none.
[[nodiscard]] std::string_view word_instead(const OptionText& option) noexcept;

/// The values that the option can have in a configuration file, for people.
[[nodiscard]] std::string allowed_in_file(const OptionText& option);

/// Whether the option can have a default in a configuration file. Some options only make sense for
/// one command.
[[nodiscard]] bool may_have_default(const OptionText& option) noexcept;

/// Whether the configuration file can have a table for the verb.
[[nodiscard]] bool may_have_table(const VerbText& verb) noexcept;

/// The global options, and the options of a verb, that can have defaults in a configuration file.
[[nodiscard]] std::vector<OptionText> global_defaults();
[[nodiscard]] std::vector<OptionText> own_defaults(const VerbText& verb);

}  // namespace redlock::cli
