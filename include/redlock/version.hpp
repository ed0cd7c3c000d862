#pragma once

#include "redlock/language.hpp"

#include <string_view>

namespace redlock {

/// The version of the headers a program was compiled with (semantic versioning).
inline constexpr std::string_view version = "0.1.0";

}  // namespace redlock
