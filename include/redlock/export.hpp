#pragma once

#include "redlock/language.hpp"

#if defined(__GNUC__)
/// Marks every type and function of these headers; whatever else is in the shared library is
/// hidden. Enumerations and types without functions are marked, too: a compiler hides what it makes
/// of a template with a hidden argument.
#define REDLOCK_EXPORT [[gnu::visibility("default")]]
/// Marks members of a marked class that only the library itself uses.
#define REDLOCK_HIDDEN [[gnu::visibility("hidden")]]
#else
#define REDLOCK_EXPORT
#define REDLOCK_HIDDEN
#endif

// The namespace's name, which is made of the version.
#include "redlock/version.hpp"  // IWYU pragma: export
