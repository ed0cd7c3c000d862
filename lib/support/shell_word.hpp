#pragma once

#include <string>
#include <string_view>

namespace redlock::support {

/// A text as one word of a command that somebody is told to type: what a shell would take for
/// something else is quoted. Every command in a message is built with it.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace redlock::support
