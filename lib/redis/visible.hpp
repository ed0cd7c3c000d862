#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::redis {

/// How much of a server's message is kept. Redis' own are shorter than half of this.
inline constexpr std::size_t message_bytes = 512;

/// Appends at most `limit` bytes that stand for `text`, on one line and without control and format
/// characters: what a server (or a hostile one) sends ends up in logs and on terminals.
void append_visible(std::string& out, std::string_view text, std::size_t limit);

[[nodiscard]] std::string visible(std::string_view text, std::size_t limit = message_bytes);

/// What may be shown of an error: some repeat the words of the command, and AUTH's are secret. Lies
/// in `message`, or is a constant.
[[nodiscard]] std::string_view without_secrets(std::string_view message,
                                               std::string_view password) noexcept;

}  // namespace redlock::redis
