#include "redlock/mutex.hpp"

#include <system_error>
#include <utility>

#include "api/mutex_errors.hpp"

namespace redlock {
namespace {

/// What no waiting mends.
[[noreturn]] void raise(const Error& error) {
  std::errc code = std::errc::operation_canceled;
  if (error.code == Errc::invalid_argument) code = std::errc::invalid_argument;
  if (error.code == Errc::forked) code = std::errc::operation_not_permitted;
  if (error.code == Errc::would_block) code = std::errc::resource_deadlock_would_occur;
  if (error.code == Errc::limit_reached) code = std::errc::resource_unavailable_try_again;
  throw std::system_error(std::make_error_code(code), error.message);
}

bool mended_by_waiting(Errc code) {
  switch (code) {
    case Errc::held:
    case Errc::split:
    case Errc::unavailable:
    case Errc::expired:
    case Errc::excluded:
    case Errc::not_holder:
    case Errc::cancelled:
      return true;
    case Errc::closed:
    case Errc::forked:
    case Errc::would_block:
    case Errc::invalid_argument:
    case Errc::limit_reached:
      return false;
  }
  return false;
}

}  // namespace

void api::raise_unless_waiting_mends(const Error& error) {
  if (!mended_by_waiting(error.code)) raise(error);
}

Mutex::Mutex(Client& client, Target target, MutexOptions options)
    : client_(client), target_(std::move(target)), options_(options) {}

Mutex::~Mutex() = default;

bool Mutex::enter(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  std::unique_lock lock(local_mutex_);
  const auto free = [this] { return !taken_; };
  bool entered = false;
  const auto now = std::chrono::steady_clock::now();
  if (wait >= std::chrono::steady_clock::time_point::max() - now) {
    entered = local_free_.wait(lock, stop, free);
  } else {
    entered = local_free_.wait_until(lock, stop, now + wait, free);
  }
  if (entered) taken_ = true;
  return entered;
}

void Mutex::leave() noexcept {
  {
    const std::lock_guard lock(local_mutex_);
    taken_ = false;
  }
  local_free_.notify_one();
}

bool Mutex::obtain(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  const auto began = BootClock::now();
  if (!enter(wait, stop)) return false;
  AcquireOptions options;
  options.ttl = options_.ttl;
  options.renewal = options_.renewal;
  const auto left = wait == forever ? forever : wait - (BootClock::now() - began);
  auto lease = client_.try_acquire_for(target_, left, std::move(options), stop);
  if (lease) {
    const std::lock_guard lock(local_mutex_);
    lease_ = *std::move(lease);
    return true;
  }
  leave();
  api::raise_unless_waiting_mends(lease.error());
  return false;
}

void Mutex::lock() { static_cast<void>(obtain(forever, {})); }

bool Mutex::lock(const std::stop_token& stop) { return obtain(forever, stop); }

bool Mutex::try_lock() { return obtain(std::chrono::nanoseconds::zero(), {}); }

bool Mutex::try_lock_within(std::chrono::nanoseconds wait) { return obtain(wait, {}); }

void Mutex::unlock() noexcept {
  Lease over;
  {
    const std::lock_guard lock(local_mutex_);
    over = std::move(lease_);
  }
  // Before anybody else of this process may ask: the nodes then see the release first.
  over = Lease();
  leave();
}

bool Mutex::valid() const noexcept {
  const std::lock_guard lock(local_mutex_);
  return lease_.valid();
}

std::stop_token Mutex::lost() const {
  const std::lock_guard lock(local_mutex_);
  return lease_.lost();
}

}  // namespace redlock
