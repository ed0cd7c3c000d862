#pragma once

#include "redlock/language.hpp"

#include <string_view>

#include "redlock/export.hpp"

// The version is written here only: CMakeLists.txt reads these three lines. So a program that
// includes the headers has it, from an installed tree as well as from the sources.

/// The parts of the version of the headers.
#define REDLOCK_VERSION_MAJOR 0
#define REDLOCK_VERSION_MINOR 1
#define REDLOCK_VERSION_PATCH 0

/// For the preprocessor: `#if REDLOCK_VERSION >= 10203` is 1.2.3 or later.
#define REDLOCK_VERSION \
  (REDLOCK_VERSION_MAJOR * 10000 + REDLOCK_VERSION_MINOR * 100 + REDLOCK_VERSION_PATCH)

// The name is put together in two steps, so that the numbers are numbers by then.
#define REDLOCK_ABI_OF(major, minor) v##major##_##minor
#define REDLOCK_ABI_NAMED(major, minor) REDLOCK_ABI_OF(major, minor)
/// The inline namespace of everything in `redlock`: that of the binary interface, which changes
/// with the first two numbers. So two libraries of different versions may be in one process, and a
/// program that is linked with the wrong one is refused by the linker.
#define REDLOCK_ABI REDLOCK_ABI_NAMED(REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR)

namespace redlock {
inline namespace REDLOCK_ABI {

#define REDLOCK_TEXT_OF(major, minor, patch) #major "." #minor "." #patch
#define REDLOCK_TEXT(major, minor, patch) REDLOCK_TEXT_OF(major, minor, patch)

/// The version of the headers a program was compiled with (semantic versioning).
inline constexpr std::string_view version =
    REDLOCK_TEXT(REDLOCK_VERSION_MAJOR, REDLOCK_VERSION_MINOR, REDLOCK_VERSION_PATCH);

#undef REDLOCK_TEXT
#undef REDLOCK_TEXT_OF

/// The version of the library that a program runs with. It differs from `version` if another shared
/// library was installed after the program was compiled. While the first number is 0, the dynamic
/// linker accepts a library whose first two numbers are the same.
[[nodiscard]] REDLOCK_EXPORT std::string_view library_version() noexcept;

}  // namespace REDLOCK_ABI
}  // namespace redlock
