#pragma once

#include <string>

#include "quorum-lock/arguments.hpp"

namespace redlock::cli {

/// Reads a TOML file whose keys are the names of the global options without their dashes. Throws
/// UsageError when it cannot be read or parsed, or holds a key or a type that is not known.
[[nodiscard]] Arguments read_config(const std::string& path);

}  // namespace redlock::cli
