#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string verb_help(const VerbText& verb);
/// The options that every verb takes.
[[nodiscard]] std::string options_help();
/// The help on a verb or on "options"; without a topic, the help on the program. Throws UsageError.
[[nodiscard]] std::string help_about(const std::vector<std::string>& topics);

/// These exit codes and the common ones, in the order of their numbers. A verb's own meaning of a
/// code replaces the common one.
[[nodiscard]] std::vector<ExitText> with_common_exits(std::span<const ExitText> own);
/// Lines that are indented, and empty ones, stay; the others are joined and wrapped again.
[[nodiscard]] std::string reflowed(std::string_view text);

[[nodiscard]] std::vector<std::string> verb_names();
/// "run, acquire, …"
[[nodiscard]] std::string verb_list();

}  // namespace redlock::cli
