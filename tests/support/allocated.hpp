#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_TEST_SANITIZED
#endif
#endif

#ifdef REDLOCK_TEST_SANITIZED
#if defined(__clang__)
#include <sanitizer/allocator_interface.h>
#else
// g++'s sanitizers have this function too, but Debian's g++ comes without the header.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif
#else
#include <unistd.h>

#include <fstream>
#endif

namespace redlock::test {

/// The bytes that this process has allocated now, by new or by malloc, which hiredis uses. Without
/// a sanitizer: the memory of the process, which is more, because the allocator keeps some of the
/// freed memory.
[[nodiscard]] inline std::size_t allocated_bytes() {
#ifdef REDLOCK_TEST_SANITIZED
  return __sanitizer_get_current_allocated_bytes();
#else
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  std::size_t resident = 0;
  file >> pages >> resident;
  return resident * static_cast<std::size_t>(::getpagesize());
#endif
}

}  // namespace redlock::test
