#pragma once

#include <string>
#include <string_view>

namespace redlock::cli {

/// The word that prints the man page: the build runs it, and the help does not have it.
inline constexpr std::string_view man_page_verb = "__man";

/// quorum-lock(1), which is the table of the verbs in roff.
[[nodiscard]] std::string man_page();

/// Lines that roff prints as they are: none of them is a request.
[[nodiscard]] std::string in_roff(std::string_view text);

}  // namespace redlock::cli
