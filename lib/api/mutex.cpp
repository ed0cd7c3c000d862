#include "redlock/mutex.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "api/mutex_errors.hpp"

namespace redlock {
namespace {

bool helped_by_waiting(Errc code) {
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

void api::raise_unless_waiting_helps(const Error& error) {
  if (helped_by_waiting(error.code)) return;
  throw std::system_error(error.code, error.message);
}

struct Mutex::State {
  State(Client& its_client, Target its_target, MutexOptions its_options)
      : client(its_client), target(std::move(its_target)), options(its_options) {}

  [[nodiscard]] bool enter(std::chrono::nanoseconds wait, const std::stop_token& stop);
  void leave() noexcept;

  Client& client;
  const Target target;
  const MutexOptions options;
  mutable std::mutex local_mutex;          // guards taken, and lease where it changes
  std::condition_variable_any local_free;  // not a std::timed_mutex: it cannot be cancelled
  bool taken = false;
  Lease lease;
};

Mutex::Mutex(Client& client, Target target, MutexOptions options)
    : state_(std::make_unique<State>(client, std::move(target), options)) {}

Mutex::~Mutex() = default;

bool Mutex::State::enter(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  std::unique_lock lock(local_mutex);
  const auto free = [this] { return !taken; };
  bool entered = false;
  const auto now = std::chrono::steady_clock::now();
  if (wait >= std::chrono::steady_clock::time_point::max() - now) {
    entered = local_free.wait(lock, stop, free);
  } else {
    entered = local_free.wait_until(lock, stop, now + wait, free);
  }
  if (entered) taken = true;
  return entered;
}

void Mutex::State::leave() noexcept {
  {
    const std::lock_guard lock(local_mutex);
    taken = false;
  }
  local_free.notify_one();
}

bool Mutex::obtain(std::chrono::nanoseconds wait, const std::stop_token& stop) {
  const auto began = BootClock::now();
  if (!state_->enter(wait, stop)) return false;
  AcquireOptions options;
  options.ttl = state_->options.ttl;
  options.renewal = state_->options.renewal;
  const auto left = wait == forever ? forever : wait - (BootClock::now() - began);
  auto lease = state_->client.try_acquire_for(state_->target, left, std::move(options), stop);
  if (lease) {
    const std::lock_guard lock(state_->local_mutex);
    state_->lease = *std::move(lease);
    return true;
  }
  state_->leave();
  api::raise_unless_waiting_helps(lease.error());
  return false;
}

void Mutex::lock() { static_cast<void>(obtain(forever, {})); }

bool Mutex::lock(const std::stop_token& stop) { return obtain(forever, stop); }

bool Mutex::try_lock() { return obtain(std::chrono::nanoseconds::zero(), {}); }

bool Mutex::try_lock_within(std::chrono::nanoseconds wait) { return obtain(wait, {}); }

void Mutex::unlock() noexcept {
  Lease over;
  {
    const std::lock_guard lock(state_->local_mutex);
    over = std::move(state_->lease);
  }
  // Before anybody else of this process may ask: the nodes then see the release first.
  over = Lease();
  state_->leave();
}

bool Mutex::valid() const noexcept {
  const std::lock_guard lock(state_->local_mutex);
  return state_->lease.valid();
}

std::stop_token Mutex::lost() const {
  const std::lock_guard lock(state_->local_mutex);
  return state_->lease.lost();
}

const Lease& Mutex::lease() const noexcept { return state_->lease; }

}  // namespace redlock
