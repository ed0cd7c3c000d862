#include "uv/blocked_threads.hpp"

namespace redlock::uv {
namespace {

std::size_t number_of_this_thread() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

}  // namespace

BlockedThreads::Wait::Wait() noexcept
    : group_(number_of_this_thread() / support::Sleepers::bits % groups),
      bit_(std::uint32_t{1} << (number_of_this_thread() % support::Sleepers::bits)) {}

void BlockedThreads::block(const Wait& wait) noexcept {
  groups_[wait.group_].sleepers.sleep_until(wait.over_, wait.bit_);
}

void BlockedThreads::end(Wait& wait) noexcept {
  Group& group = groups_[wait.group_];
  const std::uint32_t bit = wait.bit_;
  wait.over_.store(true, std::memory_order_release);
  // The thread that waits may have destroyed `wait` by now.
  group.ended.fetch_or(bit, std::memory_order_release);
  // The count comes last: a thread that sees the count also sees the bit.
  ended_.fetch_add(1, std::memory_order_release);
}

std::size_t BlockedThreads::wake() noexcept {
  if (ended_.load(std::memory_order_relaxed) == 0) return 0;
  const std::size_t ended = ended_.exchange(0, std::memory_order_acquire);
  for (Group& group : groups_) {
    if (group.ended.load(std::memory_order_relaxed) == 0) continue;
    group.sleepers.wake(group.ended.exchange(0, std::memory_order_acquire));
  }
  return ended;
}

}  // namespace redlock::uv
