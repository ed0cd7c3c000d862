#pragma once

#include <string>
#include <vector>

#include "quorum-lock/line/verb_table.hpp"

namespace redlock::cli {

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string verb_help(const VerbText& verb);
/// The options that every verb takes.
[[nodiscard]] std::string options_help();
/// The help on a verb or on "options"; without a topic, the help on the program. Throws UsageError.
[[nodiscard]] std::string help_about(const std::vector<std::string>& topics);

[[nodiscard]] std::vector<std::string> verb_names();
/// "run, acquire, …"
[[nodiscard]] std::string verb_list();

}  // namespace redlock::cli
