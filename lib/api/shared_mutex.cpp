#include "redlock/shared_mutex.hpp"

#include <utility>

#include "api/mutex_errors.hpp"

namespace redlock {

SharedMutex::SharedMutex(Client& client, std::string resource, SharedMutexOptions options)
    : client_(client),
      resource_(std::move(resource)),
      options_(options),
      writer_(client, resource_, {options.ttl, options.renewal}) {}

SharedMutex::~SharedMutex() = default;

bool SharedMutex::became_writer(bool locked) noexcept {
  if (locked) writing_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  return locked;
}

bool SharedMutex::is_writer() const noexcept {
  return writing_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void SharedMutex::unlock() noexcept {
  // First: another thread may be the writer as soon as the mutex is free.
  writing_.store({}, std::memory_order_relaxed);
  writer_.unlock();
}

bool SharedMutex::obtain_shared(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  AcquireOptions options;
  options.ttl = options_.shared_ttl;
  options.renewal = options_.renewal;
  auto lease = client_.try_acquire_for(redlock::shared(resource_), wait, std::move(options), stop);
  if (!lease) {
    api::raise_unless_waiting_mends(lease.error());
    return false;
  }
  const std::lock_guard lock(mutex_);
  readers_[std::this_thread::get_id()] = *std::move(lease);
  return true;
}

void SharedMutex::unlock_shared() noexcept {
  Lease over;
  const std::lock_guard lock(mutex_);
  const auto mine = readers_.find(std::this_thread::get_id());
  if (mine == readers_.end()) return;
  over = std::move(mine->second);
  readers_.erase(mine);
}

bool SharedMutex::valid() const noexcept {
  const std::lock_guard lock(mutex_);
  const auto mine = readers_.find(std::this_thread::get_id());
  if (mine != readers_.end()) return mine->second.valid();
  return is_writer() && writer_.valid();
}

std::stop_token SharedMutex::lost() const {
  const std::lock_guard lock(mutex_);
  const auto mine = readers_.find(std::this_thread::get_id());
  if (mine != readers_.end()) return mine->second.lost();
  return is_writer() ? writer_.lost() : std::stop_token();
}

}  // namespace redlock
