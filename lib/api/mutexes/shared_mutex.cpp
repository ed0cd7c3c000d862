#include "redlock/shared_mutex.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "api/client/blocking.hpp"
#include "api/mutexes/mutex_errors.hpp"
#include "api/options/adapted.hpp"

namespace redlock {

struct SharedMutex::State {
  State(Client& client, std::string resource, AcquireOptions options)
      : readers_target(shared(resource)),
        readers_options(options),
        writer(client, std::move(resource), std::move(options)) {
    readers_options.fencing = false;
    writer.hide_others();
  }

  [[nodiscard]] bool became_writer(bool locked) noexcept {
    if (locked) writing.store(std::this_thread::get_id(), std::memory_order_relaxed);
    return locked;
  }
  [[nodiscard]] bool is_writer() const noexcept {
    return writing.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  [[nodiscard]] bool obtain_shared(std::chrono::nanoseconds wait, const std::stop_token& stop,
                                   Error* why = nullptr);

  const Target readers_target;
  AcquireOptions readers_options;
  Mutex writer;
  // A thread finds its own id here only if it is the writer.
  std::atomic<std::thread::id> writing{};
  mutable std::mutex mutex;
  std::map<std::thread::id, Lease> readers;  // guarded by mutex
};

SharedMutex::SharedMutex(Client& client, std::string resource, AcquireOptions options)
    : state_(
          std::make_unique<State>(client, std::move(resource), api::adapted(std::move(options)))) {}

SharedMutex::~SharedMutex() = default;

void SharedMutex::lock() {
  state_->writer.lock();
  static_cast<void>(state_->became_writer(true));
}

bool SharedMutex::lock(const std::stop_token& stop) {
  return state_->became_writer(state_->writer.lock(stop));
}

bool SharedMutex::try_lock() { return state_->became_writer(state_->writer.try_lock()); }

bool SharedMutex::try_lock_within(std::chrono::nanoseconds wait) {
  return state_->became_writer(state_->writer.try_lock_within(wait));
}

void SharedMutex::unlock() noexcept {
  // Cleared first: another thread may be the writer as soon as the mutex is free.
  state_->writing.store({}, std::memory_order_relaxed);
  state_->writer.unlock();
}

Result<std::unique_lock<SharedMutex>> SharedMutex::try_acquire_within(std::chrono::nanoseconds wait,
                                                                      const std::stop_token& stop) {
  Error why;
  if (!state_->became_writer(state_->writer.obtain(wait, stop, &why))) return why;
  return std::unique_lock(*this, std::adopt_lock);
}

bool SharedMutex::State::obtain_shared(std::chrono::nanoseconds wait, const std::stop_token& stop,
                                       Error* why) {
  auto lease = api::acquire(writer.core(), Target(readers_target), AcquireOptions(readers_options),
                            wait, stop);
  if (!lease) {
    api::explain_or_throw(std::move(lease).error(), wait, why);
    return false;
  }
  const std::lock_guard lock(mutex);
  readers[std::this_thread::get_id()] = *std::move(lease);
  return true;
}

void SharedMutex::lock_shared() { static_cast<void>(state_->obtain_shared(forever, {})); }

bool SharedMutex::lock_shared(const std::stop_token& stop) {
  return state_->obtain_shared(forever, stop);
}

bool SharedMutex::try_lock_shared() {
  return state_->obtain_shared(std::chrono::nanoseconds::zero(), {});
}

bool SharedMutex::try_lock_shared_within(std::chrono::nanoseconds wait) {
  return state_->obtain_shared(wait, {});
}

Result<std::shared_lock<SharedMutex>> SharedMutex::try_acquire_shared_within(
    std::chrono::nanoseconds wait, const std::stop_token& stop) {
  Error why;
  if (!state_->obtain_shared(wait, stop, &why)) return why;
  return std::shared_lock(*this, std::adopt_lock);
}

void SharedMutex::unlock_shared() noexcept {
  Lease over;
  const std::lock_guard lock(state_->mutex);
  const auto mine = state_->readers.find(std::this_thread::get_id());
  if (mine == state_->readers.end()) return;
  over = std::move(mine->second);
  state_->readers.erase(mine);
}

bool SharedMutex::valid() const noexcept {
  // The thread that has the mutex may not exist here.
  const auto& client = state_->writer.core();
  if (client && client->forked()) return false;
  return lease().valid();
}

std::stop_token SharedMutex::lost() const { return lease().lost(); }

const Lease& SharedMutex::lease() const noexcept {
  static const Lease none;
  const std::lock_guard lock(state_->mutex);
  const auto mine = state_->readers.find(std::this_thread::get_id());
  if (mine != state_->readers.end()) return mine->second;
  return state_->is_writer() ? state_->writer.lease() : none;
}

}  // namespace redlock
