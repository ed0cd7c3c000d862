#include "redlock/recursive_mutex.hpp"

#include <utility>

namespace redlock {

RecursiveMutex::RecursiveMutex(Client& client, Target target, MutexOptions options)
    : mutex_(client, std::move(target), options) {}

RecursiveMutex::~RecursiveMutex() = default;

bool RecursiveMutex::re_enter() noexcept {
  if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return false;
  ++count_;
  return true;
}

bool RecursiveMutex::entered(bool locked) noexcept {
  if (!locked) return false;
  owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  count_ = 1;
  return true;
}

void RecursiveMutex::lock() {
  if (re_enter()) return;
  mutex_.lock();
  static_cast<void>(entered(true));
}

bool RecursiveMutex::lock(const std::stop_token& stop) {
  return re_enter() || entered(mutex_.lock(stop));
}

bool RecursiveMutex::try_lock() { return re_enter() || entered(mutex_.try_lock()); }

void RecursiveMutex::unlock() noexcept {
  if (owner_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return;
  if (--count_ > 0) return;
  owner_.store({}, std::memory_order_relaxed);
  mutex_.unlock();
}

std::size_t RecursiveMutex::holds() const noexcept {
  return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id() ? count_ : 0;
}

}  // namespace redlock
