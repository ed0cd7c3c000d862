#pragma once

#include <string>
#include <string_view>

namespace redlock::cli {

/// Globs as Redis has them: `*`, `?`, `[a-c]`, `[^a-c]`, and `\` before a character that is meant
/// literally.

/// Whether the word has a `*`, `?` or `[`, and so is read as a glob, be they escaped or not.
[[nodiscard]] bool looks_like_glob(std::string_view word) noexcept;

/// Whether the glob matches one text only, because all that is special in it is escaped.
[[nodiscard]] bool is_literal_glob(std::string_view glob) noexcept;

/// The text that a literal glob matches.
[[nodiscard]] std::string unescaped_glob(std::string_view glob);

/// The glob that matches this text only.
[[nodiscard]] std::string escaped_glob(std::string_view text);

/// As the nodes do it; byte by byte.
[[nodiscard]] bool matches_glob(std::string_view glob, std::string_view text) noexcept;

}  // namespace redlock::cli
