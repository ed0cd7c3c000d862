#include <array>
#include <bit>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "support/sleepers.hpp"

namespace redlock::support {

struct Sleepers::State {
  std::mutex mutex;
  std::array<std::condition_variable, bits> woken;
};

Sleepers::Sleepers() : state_(std::make_unique<State>()) {}
Sleepers::~Sleepers() = default;

void Sleepers::sleep_until(const std::atomic<bool>& over, std::uint32_t bit) noexcept {
  std::unique_lock lock(state_->mutex);
  state_->woken[static_cast<std::size_t>(std::countr_zero(bit))].wait(
      lock, [&] { return over.load(std::memory_order_acquire); });
}

void Sleepers::wake(std::uint32_t of_bits) noexcept {
  // A thread that has just seen that its wait is not over holds the lock until it sleeps.
  const std::lock_guard lock(state_->mutex);
  for (std::size_t bit = 0; bit < bits; ++bit) {
    if ((of_bits >> bit & 1U) != 0) state_->woken[bit].notify_all();
  }
}

}  // namespace redlock::support
