#pragma once

#include "redlock/language.hpp"

/// Marks what the shared library exports; everything else in it is hidden.
#if defined(__GNUC__)
#define REDLOCK_EXPORT [[gnu::visibility("default")]]
#else
#define REDLOCK_EXPORT
#endif
