#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::redis {

/// How many bytes of a server's message are kept. Redis' own messages are shorter than half of
/// this.
inline constexpr std::size_t message_bytes = 512;

/// Appends `text` in at most `limit` bytes, on one line and without control and format characters:
/// text from servers, also from hostile ones, is printed in logs and on terminals.
void append_visible(std::string& out, std::string_view text, std::size_t limit);

[[nodiscard]] std::string visible(std::string_view text, std::size_t limit = message_bytes);

/// The part of an error that may be shown: some errors repeat the words of the command, and AUTH's
/// are secret. Points into `message`, or is a constant.
[[nodiscard]] std::string_view without_secrets(std::string_view message,
                                               std::string_view password) noexcept;

}  // namespace redlock::redis
