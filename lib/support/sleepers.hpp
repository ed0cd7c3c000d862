#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace redlock::support {

/// Threads that sleep, each until a flag of its own is set. Each thread sleeps under a bit, which
/// it can share with others. One call wakes the threads of any number of bits.
///
/// In sleepers_linux.cpp, they sleep on one futex; in sleepers_posix.cpp, on a condition variable
/// for each bit.
class Sleepers {
 public:
  static constexpr std::uint32_t bits = 32;

  Sleepers();
  ~Sleepers();
  Sleepers(const Sleepers&) = delete;
  Sleepers& operator=(const Sleepers&) = delete;

  /// The thread that sets `over` must call `wake()` afterwards.
  void sleep_until(const std::atomic<bool>& over, std::uint32_t bit) noexcept;
  void wake(std::uint32_t of_bits) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace redlock::support
