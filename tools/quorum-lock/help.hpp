#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "quorum-lock/verb_table.hpp"

namespace redlock::cli {

/// Text from this column on, in lines that fit; the first line has been begun already.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t column);

[[nodiscard]] std::string program_help();
[[nodiscard]] std::string verb_help(const VerbText& verb);

/// "run, acquire, …"
[[nodiscard]] std::string verb_list();

}  // namespace redlock::cli
