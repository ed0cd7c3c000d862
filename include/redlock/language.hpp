#pragma once

/// What every header needs first: says it in one line, where others would follow by the hundred.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "redlock needs C++20 or later: g++ 12 or clang 14, or newer, and -std=c++20"
// Compilers go on after an #error, and stop at a header that is missing.
#include <redlock/needs-c++20>
#endif
