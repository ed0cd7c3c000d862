#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "support/sleepers.hpp"

namespace redlock::support {

struct Sleepers::State {
  void futex(int operation, std::uint32_t value, std::uint32_t of_bits) noexcept {
    // The caller checks again, which covers every failure: a signal, or a wake-up in between.
    static_cast<void>(::syscall(SYS_futex, &wakeups, operation | FUTEX_PRIVATE_FLAG, value, nullptr,
                                nullptr, of_bits));
  }

  /// Counts wake-ups, so that no thread falls asleep after a wake-up that was meant for it.
  std::atomic<std::uint32_t> wakeups{0};
  static_assert(sizeof wakeups == sizeof(std::uint32_t));
};

Sleepers::Sleepers() : state_(std::make_unique<State>()) {}
Sleepers::~Sleepers() = default;

void Sleepers::sleep_until(const std::atomic<bool>& over, std::uint32_t bit) noexcept {
  while (true) {
    const std::uint32_t seen = state_->wakeups.load(std::memory_order_acquire);
    if (over.load(std::memory_order_acquire)) return;
    state_->futex(FUTEX_WAIT_BITSET, seen, bit);
  }
}

void Sleepers::wake(std::uint32_t of_bits) noexcept {
  state_->wakeups.fetch_add(1, std::memory_order_release);
  state_->futex(FUTEX_WAKE_BITSET, INT_MAX, of_bits);
}

}  // namespace redlock::support
