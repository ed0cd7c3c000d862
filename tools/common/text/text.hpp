#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::cli {

/// Tokens of other clients may be any bytes. Bytes that are not UTF-8 become `\xNN`, so that the
/// JSON stays valid and different tokens stay different.
[[nodiscard]] std::string as_utf8(std::string_view bytes);

/// As `as_utf8`, with control and format characters written as `\xNN` too: a token must not be able
/// to drive the terminal, to fake a second line, or to reorder or hide the text around it.
[[nodiscard]] std::string as_printable(std::string_view bytes);

/// UTC by RFC 3339, with milliseconds.
[[nodiscard]] std::string utc_text(std::chrono::system_clock::time_point time);

/// As one word of a command that somebody may type: what a shell would take for something else is
/// quoted. As the library does it, whose inside this program does not see.
[[nodiscard]] std::string shell_word(std::string_view text);

/// "1 node", "3 nodes".
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

/// Columns of printable text on a terminal: `µ` takes one, `漢` two.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// The text in at most `width` columns; `…` stands for the part that is cut off.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);

/// Text in lines of at most 96 columns that begin at `column`. The caller has already written the
/// first line up to there.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t column);

/// A URL without the password in it.
[[nodiscard]] std::string without_password(std::string_view url);

/// Whether a URL carries one.
[[nodiscard]] bool has_password(std::string_view url);

}  // namespace redlock::cli
