#include "redlock/recursive_mutex.hpp"

#include <atomic>
#include <thread>
#include <utility>

#include "api/options/adapted.hpp"

namespace redlock {

struct RecursiveMutex::State {
  State(Client& client, Target target, AcquireOptions options)
      : mutex(client, std::move(target), std::move(options)) {}

  [[nodiscard]] bool is_owner() const noexcept {
    return owner.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  Mutex mutex;
  std::atomic<std::thread::id> owner{};  // a thread finds its own id here only if it holds the lock
  std::size_t count = 0;                 // used by the owner only
};

RecursiveMutex::RecursiveMutex(Client& client, Target target, AcquireOptions options)
    : state_(std::make_unique<State>(client, std::move(target), api::adapted(std::move(options)))) {
}

RecursiveMutex::~RecursiveMutex() = default;

Mutex& RecursiveMutex::mutex() noexcept { return state_->mutex; }

bool RecursiveMutex::re_enter() noexcept {
  if (!state_->is_owner()) return false;
  ++state_->count;
  return true;
}

bool RecursiveMutex::entered(bool locked) noexcept {
  if (!locked) return false;
  state_->owner.store(std::this_thread::get_id(), std::memory_order_relaxed);
  state_->count = 1;
  return true;
}

void RecursiveMutex::lock() {
  if (re_enter()) return;
  mutex().lock();
  static_cast<void>(entered(true));
}

bool RecursiveMutex::lock(const std::stop_token& stop) {
  return re_enter() || entered(mutex().lock(stop));
}

bool RecursiveMutex::try_lock() { return re_enter() || entered(mutex().try_lock()); }

Result<std::unique_lock<RecursiveMutex>> RecursiveMutex::try_acquire_within(
    std::chrono::nanoseconds wait, const std::stop_token& stop) {
  Error why;
  if (!re_enter() && !entered(mutex().obtain(wait, stop, &why))) return why;
  return std::unique_lock(*this, std::adopt_lock);
}

void RecursiveMutex::unlock() noexcept {
  if (!state_->is_owner()) return;
  if (--state_->count > 0) return;
  state_->owner.store({}, std::memory_order_relaxed);
  state_->mutex.unlock();
}

std::size_t RecursiveMutex::holds() const noexcept {
  return state_->is_owner() ? state_->count : 0;
}

bool RecursiveMutex::valid() const noexcept { return state_->mutex.valid(); }

std::stop_token RecursiveMutex::lost() const { return state_->mutex.lost(); }

const Lease& RecursiveMutex::lease() const noexcept { return state_->mutex.lease(); }

}  // namespace redlock
