#pragma once

#include <string>
#include <string_view>

namespace redlock::cli {

/// Readers of the file see the old text or the new one, nothing in between. A terminal, a pipe and
/// the like are written to directly. 0, or the errno.
[[nodiscard]] int replace_file(const std::string& file, std::string_view text);

/// Throws UsageError with the name of the option (without dashes) where `replace_file` would fail.
void require_writable(std::string_view option, const std::string& file);

/// As `replace_file`. Throws std::runtime_error with the name of the option.
void write_page(std::string_view option, const std::string& file, std::string_view text);

}  // namespace redlock::cli
