#pragma once

#include <string>
#include <string_view>

namespace redlock::support {

/// A text as one word of a command for a user to type, quoted if a shell would read it differently.
/// Every command in a message is built with it.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace redlock::support
