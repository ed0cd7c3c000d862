#include "support/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace redlock::support {

void assertion_failed(const char* rule, const char* file, int line) noexcept {
  std::fprintf(stderr, "redlock: broken invariant at %s:%d: %s\n", file, line, rule);
  std::abort();
}

}  // namespace redlock::support
