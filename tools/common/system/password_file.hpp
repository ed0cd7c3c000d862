#pragma once

#include <string>

namespace redlock::cli {

/// The password on the first line of a file. Throws UsageError, which names `origin`: the option or
/// variable that the path comes from.
[[nodiscard]] std::string read_password_file(const std::string& path, const std::string& origin);

}  // namespace redlock::cli
