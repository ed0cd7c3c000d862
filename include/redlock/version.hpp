#pragma once

#include "redlock/language.hpp"

#include <string_view>

#include "redlock/export.hpp"

// The one place where the version is written: CMakeLists.txt reads these three lines. So whoever
// includes the headers has it, from an installed tree and from the sources alike.

/// The parts of the version of the headers.
#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0

/// For the preprocessor: `#if REDLOCK_VERSION >= 10203` is 1.2.3 or later.
#define REDLOCK_VERSION \
  (REDLOCK_VERSION_MAJOR * 10000 + REDLOCK_VERSION_MINOR * 100 + REDLOCK_VERSION_PATCH)

namespace redlock {

#define REDLOCK_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define REDLOCK_TEXT(major, minor, patch) REDLOCK_TEXT_OF(major, minor, patch)

/// The version of the headers a program was compiled with (semantic versioning).
inline constexpr std::string_view version =
    REDLOCK_TEXT(REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR, REDLOCK_VERSION_PATCH);

#undef REDLOCK_TEXT
#undef REDLOCK_TEXT_OF

/// The version of the library that a program runs with. It differs from `version` where another
/// shared library was installed after the program was compiled. While the first number is 0, the
/// dynamic linker accepts a library whose first two numbers are the same.
[[nodiscard]] REDLOCK_EXPORT std::string_view library_version() noexcept;

}  // namespace redlock
