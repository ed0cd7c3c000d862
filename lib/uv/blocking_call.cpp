#include "uv/blocking_call.hpp"

#include "support/assert.hpp"
#include "support/fork_guard.hpp"

namespace redlock::uv {
namespace {

constexpr std::uint64_t count_base = std::uint64_t{1} << 16U;

[[nodiscard]] std::uint64_t process_generation() noexcept {
  return support::fork_generation() % (std::uint64_t{1} << 48U);
}

}  // namespace

bool CallLimit::take() noexcept {
  REDLOCK_ASSERT(most_ < count_base);
  std::uint64_t before = count_.load(std::memory_order_relaxed);
  std::uint64_t after = 0;
  do {
    const std::uint64_t generation = process_generation();
    const std::uint64_t running = before / count_base == generation ? before % count_base : 0;
    if (running >= most_) return false;
    after = generation * count_base + running + 1;
  } while (!count_.compare_exchange_weak(before, after, std::memory_order_relaxed));
  return true;
}

}  // namespace redlock::uv
