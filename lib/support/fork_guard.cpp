#include "support/fork_guard.hpp"

#include <pthread.h>

#include <atomic>

#include "support/assert.hpp"

namespace redlock::support {
namespace {

std::atomic<std::uint64_t> generation{1};

void in_child() noexcept { generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

std::uint64_t fork_generation() noexcept {
  static const bool registered = [] {
    const int status = pthread_atfork(nullptr, nullptr, in_child);
    REDLOCK_ASSERT(status == 0);
    return true;
  }();
  static_cast<void>(registered);
  return generation.load(std::memory_order_relaxed);
}

}  // namespace redlock::support
