#include "redlock/mutex.hpp"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "api/client/blocking.hpp"
#include "api/client/core_of.hpp"
#include "api/leases/lease_cell.hpp"
#include "api/mutexes/cohort.hpp"
#include "api/mutexes/mutex_errors.hpp"
#include "api/mutexes/mutex_lease.hpp"
#include "api/options/adapted.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"
#include "support/fork_guard.hpp"

namespace redlock {
namespace {

bool helped_by_waiting(Errc code, std::chrono::nanoseconds wait) {
  switch (code) {
    case Errc::held:
    case Errc::split:
    case Errc::unavailable:
    case Errc::expired:
    case Errc::not_holder:
    case Errc::cancelled:
      return true;
    case Errc::excluded:
      return wait != forever;
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

void api::explain_or_throw(Error&& error, std::chrono::nanoseconds wait, Error* why) {
  if (why != nullptr) {
    *why = std::move(error);
  } else if (!helped_by_waiting(error.code, wait)) {
    throw std::system_error(error.code, error.message);
  }
}

struct Mutex::State {
  State(std::shared_ptr<api::ClientCore> its_client, Target its_target, AcquireOptions its_options)
      : client(std::move(its_client)),
        target(std::move(its_target)),
        options(std::move(its_options)),
        cohort(api::cohort_terms(target, options)),
        fork_generation(support::fork_generation()) {}

  /// The outcome of a thread's wait in the queue of this process.
  enum class Entered : std::uint8_t { no, to_acquire, with_lease };

  [[nodiscard]] Entered enter(std::chrono::nanoseconds wait, const std::stop_token& stop);
  [[nodiscard]] Entered take_passed_lease(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] bool queue(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds wait,
                           const std::stop_token& stop);
  [[nodiscard]] Error not_entered(const std::stop_token& stop) const;
  void keep(Lease&& granted);
  void leave() noexcept;
  void release(std::unique_lock<std::mutex>& lock) noexcept;
  [[nodiscard]] api::Cohort::LeaseState look_at_lease() const noexcept;

  const std::shared_ptr<api::ClientCore> client;
  const Target target;
  const AcquireOptions options;
  // Other threads of this process wait at the nodes, not in this queue.
  bool others_are_hidden = false;
  mutable std::mutex local_mutex;  // guards the members below; for the lease: its changes
  api::Cohort cohort;
  std::uint64_t fork_generation;
  Lease lease;
};

namespace {

/// A wake-up for each thread: a lock that becomes free wakes one of them.
struct QueuedThread : api::Cohort::Waiter {
  std::condition_variable_any wakeup;  // not a std::condition_variable: it cannot be cancelled
};

/// Under the mutex that guards the cohort: the thread may go as soon as that is free.
void wake(api::Cohort::Waiter* waiter) noexcept {
  if (waiter != nullptr) static_cast<QueuedThread*>(waiter)->wakeup.notify_one();
}

}  // namespace

Mutex::Mutex(Client& client, Target target, AcquireOptions options)
    : state_(std::make_unique<State>(api::CoreOf::client(client), std::move(target),
                                     api::adapted(std::move(options)))) {}

Mutex::~Mutex() = default;

void Mutex::hide_others() noexcept { state_->others_are_hidden = true; }

const std::shared_ptr<api::ClientCore>& Mutex::core() const noexcept { return state_->client; }

api::Cohort::LeaseState Mutex::State::look_at_lease() const noexcept {
  auto state = api::look_at(lease);
  if (others_are_hidden) state.others = core::OtherClients::unknown;
  return state;
}

bool Mutex::State::queue(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds wait,
                         const std::stop_token& stop) {
  QueuedThread self;
  cohort.queue(self, runtime::boot_now());
  const auto entered = [&] { return cohort.enter(self, runtime::boot_now()); };
  bool has_entered = false;
  const auto now = std::chrono::steady_clock::now();
  if (wait >= std::chrono::steady_clock::time_point::max() - now) {
    has_entered = self.wakeup.wait(lock, stop, entered);
  } else {
    has_entered = self.wakeup.wait_until(lock, stop, now + wait, entered);
  }
  // Both waits call `entered` at their end, so a thread that gives up loses neither a wake-up nor a
  // lease.
  if (!has_entered) cohort.cancel(self);
  return has_entered;
}

Mutex::State::Entered Mutex::State::enter(std::chrono::nanoseconds wait,
                                          const std::stop_token& stop) {
  std::unique_lock lock(local_mutex);
  if (!cohort.enter()) {
    if (wait <= std::chrono::nanoseconds::zero() || !queue(lock, wait, stop)) return Entered::no;
  }
  if (!api::LeaseCell::of(lease)) return Entered::to_acquire;
  if (!stop.stop_requested()) return take_passed_lease(lock);
  lock.unlock();
  leave();
  return Entered::no;
}

Error Mutex::State::not_entered(const std::stop_token& stop) const {
  const Errc code = stop.stop_requested() ? Errc::cancelled : Errc::held;
  Error error = runtime::explain(code, target.resource(), {});
  if (code == Errc::held) error.message += " by another thread of this process";
  return error;
}

Mutex::State::Entered Mutex::State::take_passed_lease(std::unique_lock<std::mutex>& lock) {
  const auto seen = look_at_lease();
  if (!cohort.takes(seen, runtime::boot_now())) {
    release(lock);
    return Entered::to_acquire;
  }
  const bool asks = !others_are_hidden && cohort.asks(seen);
  lock.unlock();
  if (asks) api::LeaseCell::of(lease)->core().watch_others(api::LeaseCell::of(lease));
  return Entered::with_lease;
}

void Mutex::State::keep(Lease&& granted) {
  bool asks = false;
  {
    const std::lock_guard lock(local_mutex);
    lease = std::move(granted);
    cohort.granted(runtime::boot_now(), runtime::to_core(lease.valid_until()));
    asks = !others_are_hidden && cohort.asks(look_at_lease());
  }
  if (asks) api::LeaseCell::of(lease)->core().watch_others(api::LeaseCell::of(lease));
}

void Mutex::State::release(std::unique_lock<std::mutex>& lock) noexcept {
  Lease over = std::move(lease);
  lock.unlock();
  over = Lease();
}

void Mutex::State::leave() noexcept {
  std::unique_lock lock(local_mutex);
  if (fork_generation != support::fork_generation()) {
    // In a forked child: the threads that wait are the parent's.
    fork_generation = support::fork_generation();
    cohort = api::Cohort(api::cohort_terms(target, options));
    return release(lock);
  }
  auto now = runtime::boot_now();
  if (api::LeaseCell::of(lease) && !cohort.passes(look_at_lease(), now)) {
    // Released before another thread of this process can ask, so that the nodes see the release
    // first.
    release(lock);
    lock.lock();
    now = runtime::boot_now();
  }
  wake(cohort.leave(now));
}

bool Mutex::obtain(std::chrono::nanoseconds wait, const std::stop_token& stop, Error* why) {
  const bool bounded = wait != forever;
  const auto began = bounded ? BootClock::now() : BootClock::time_point{};
  const auto entered = state_->enter(wait, stop);
  if (entered == State::Entered::with_lease) return true;
  if (entered == State::Entered::no) {
    if (why != nullptr) *why = state_->not_entered(stop);
    return false;
  }
  const auto left = bounded ? wait - (BootClock::now() - began) : forever;
  auto lease = api::acquire(state_->client, Target(state_->target), AcquireOptions(state_->options),
                            left, stop);
  if (lease) {
    state_->keep(*std::move(lease));
    return true;
  }
  state_->leave();
  api::explain_or_throw(std::move(lease).error(), wait, why);
  return false;
}

Result<std::unique_lock<Mutex>> Mutex::try_acquire_within(std::chrono::nanoseconds wait,
                                                          const std::stop_token& stop) {
  Error why;
  if (!obtain(wait, stop, &why)) return why;
  return std::unique_lock(*this, std::adopt_lock);
}

void Mutex::lock() { static_cast<void>(obtain(forever, {})); }

bool Mutex::lock(const std::stop_token& stop) { return obtain(forever, stop); }

bool Mutex::try_lock() { return obtain(std::chrono::nanoseconds::zero(), {}); }

bool Mutex::try_lock_within(std::chrono::nanoseconds wait) { return obtain(wait, {}); }

void Mutex::unlock() noexcept { state_->leave(); }

bool Mutex::valid() const noexcept {
  // The thread that has the local mutex may not exist here.
  if (state_->client && state_->client->forked()) return false;
  const std::lock_guard lock(state_->local_mutex);
  return state_->lease.valid();
}

std::stop_token Mutex::lost() const {
  const std::lock_guard lock(state_->local_mutex);
  return state_->lease.lost();
}

const Lease& Mutex::lease() const noexcept { return state_->lease; }

}  // namespace redlock
