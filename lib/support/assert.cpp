#include "support/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace redlock::support {

void assertion_failed(const char* rule, const char* file, int line) noexcept {
  std::fprintf(stderr, "redlock: broken invariant at %s:%d: %s\n", file, line, rule);
  std::abort();
}

void end_program(const char* mistake, const char* details) noexcept {
  std::fprintf(stderr, "redlock: %s: %s\n", mistake, details);
  std::abort();
}

}  // namespace redlock::support
