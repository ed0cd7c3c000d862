#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "support/sleepers.hpp"

namespace redlock::uv {

/// Threads that wait for the loop's thread, each for an answer of its own. Threads that were
/// answered in one turn are woken together, with one system call. A thread that is woken alone
/// often takes the processor from the thread that still has others to wake, and each switch costs
/// as much as the woken thread's work.
class BlockedThreads {
 public:
  /// The wait of one thread for one answer. Created by the thread that is going to wait.
  class Wait {
   public:
    Wait() noexcept;
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    friend BlockedThreads;
    const std::size_t group_;
    const std::uint32_t bit_;
    std::atomic<bool> over_{false};
  };

  BlockedThreads() = default;
  BlockedThreads(const BlockedThreads&) = delete;
  BlockedThreads& operator=(const BlockedThreads&) = delete;

  /// Returns after `end(wait)`. The thread sleeps in the kernel at once and does not spin before:
  /// of many threads that wait for the network, each would keep the others from running.
  void block(const Wait& wait) noexcept;

  /// Called by any thread, whose earlier writes become visible to the waiting thread. The waiting
  /// thread sleeps until the next `wake()` at the latest, and may destroy `wait` before that.
  void end(Wait& wait) noexcept;

  /// Called by any thread. Wakes the threads whose wait is over. Returns how many waits have ended
  /// since the last call.
  std::size_t wake() noexcept;

 private:
  /// Threads that are woken by the bits of one word. If there are more threads than bits in all
  /// groups, some threads share a bit and are woken needlessly.
  struct Group {
    support::Sleepers sleepers;
    std::atomic<std::uint32_t> ended{0};  // bits
  };
  static constexpr std::size_t groups = 4;

  std::array<Group, groups> groups_;
  std::atomic<std::size_t> ended_{0};
};

}  // namespace redlock::uv
