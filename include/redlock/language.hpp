#pragma once

/// Every header includes this first: an older C++ gets one clear error instead of hundreds.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "redlock needs C++20 or later: g++ 12 or clang 14, or newer, and -std=c++20"
// Compilers go on after an #error, and stop at a header that is missing.
#include <redlock/needs-c++20>
#endif
