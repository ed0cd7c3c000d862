#pragma once

#include <string>

#include "quorum-lock/verb_table.hpp"

namespace redlock::cli {

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string verb_help(const VerbText& verb);

/// "run, acquire, …"
[[nodiscard]] std::string verb_list();

}  // namespace redlock::cli
