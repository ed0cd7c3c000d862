#pragma once

namespace redlock::support {

/// Says which rule broke and where, then aborts.
[[noreturn]] void assertion_failed(const char* rule, const char* file, int line) noexcept;

/// Says which mistake the calling program made, with details, then aborts.
[[noreturn]] void end_program(const char* mistake, const char* details) noexcept;

}  // namespace redlock::support

/// A broken invariant is a bug of ours. It ends the program in every build: a lock library that
/// continues in an unforeseen state can give one lock to two holders.
#define REDLOCK_ASSERT(rule) \
  ((rule) ? static_cast<void>(0) : ::redlock::support::assertion_failed(#rule, __FILE__, __LINE__))
