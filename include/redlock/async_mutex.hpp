#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <utility>

#include "redlock/async_client.hpp"
#include "redlock/callback.hpp"
#include "redlock/clock.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

namespace redlock::api {
class AsyncMutexCore;
}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {

/// Being the holder of an AsyncMutex. Move-only: the owner of the object holds the lock.
///
/// The destructor unlocks. It never blocks, and no function throws. It may outlive the mutex, and
/// also the client, whose end also ends the lease. Thread safety: as Lease.
class [[nodiscard]] REDLOCK_EXPORT AsyncMutexGuard {
 public:
  /// Holds nothing.
  AsyncMutexGuard() noexcept;
  AsyncMutexGuard(AsyncMutexGuard&&) noexcept;
  AsyncMutexGuard& operator=(AsyncMutexGuard&&) noexcept;
  AsyncMutexGuard(const AsyncMutexGuard&) = delete;
  AsyncMutexGuard& operator=(const AsyncMutexGuard&) = delete;
  ~AsyncMutexGuard();

  /// Passes the lease on to a call of this process that waits, or releases it without waiting for
  /// the answers. The guard then holds nothing. Unlocking a lock that was lost is harmless.
  void unlock() noexcept;

  /// Whether the lease is held and its deadline has not passed.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the lease is lost, and when the client is closed: see `Lease::lost`. Read the
  /// token before unlocking: it belongs to the lease, so it is also signalled if the lease is
  /// passed on and lost by a later holder.
  [[nodiscard]] std::stop_token lost() const;

  /// The lease, which may have been passed on to this holder. Without one, an empty lease.
  [[nodiscard]] const Lease& lease() const noexcept;

 private:
  friend class api::AsyncMutexCore;
  REDLOCK_HIDDEN explicit AsyncMutexGuard(std::shared_ptr<api::AsyncMutexCore> held) noexcept;
  std::shared_ptr<api::AsyncMutexCore> held_;
};

extern template class Awaitable<AsyncMutexGuard>;

/// Mutex with the asynchronous client: the calls of one process queue in the process first, and
/// only one of them contends at the nodes. A guard that unlocks passes its lease on to the next
/// call, on the terms of Mutex, with the same fairness to other processes and the same rule for
/// fencing tokens. The rules of Mutex for threads apply to calls here.
///
///     Result<AsyncMutexGuard> guard = co_await mutex.lock(stop);
///
/// Callbacks, answers and threads are those of AsyncClient; there are no exceptions. The calls that
/// wait end with `cancelled` when this object is destroyed, and with `closed` when the client is
/// closed, whoever holds the lock. Readers need no mutex: acquire `shared(resource)`.
///
/// Thread safety: as AsyncClient, and guards as Lease. Use one object per resource and process.
class REDLOCK_EXPORT AsyncMutex {
 public:
  AsyncMutex(AsyncClient& client, Target target, AcquireOptions options = {});
  AsyncMutex(const AsyncMutex&) = delete;
  AsyncMutex& operator=(const AsyncMutex&) = delete;
  ~AsyncMutex();

  /// Answers when held, and waits through outages. `cancel` ends it. Errors: excluded (no
  /// waiting helps: see Errc), cancelled, closed, forked, invalid_argument, limit_reached.
  RequestId lock(Callback<void(Result<AsyncMutexGuard>)> done);

  /// Asks once and does not wait. Errors: as `AsyncClient::try_acquire`; held also if another call
  /// of this process holds it.
  RequestId try_lock(Callback<void(Result<AsyncMutexGuard>)> done);

  /// Waits for at most `wait`. Errors: as `try_lock`, and cancelled.
  template <typename Rep, typename Period>
  RequestId try_lock_for(const std::chrono::duration<Rep, Period>& wait,
                         Callback<void(Result<AsyncMutexGuard>)> done) {
    return lock_within(wait_detail::saturated(wait), std::move(done));
  }

  /// Waits until `deadline` of any clock at the latest. Errors: as `try_lock_for`.
  template <typename Clock, typename Duration>
  RequestId try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline,
                           Callback<void(Result<AsyncMutexGuard>)> done) {
    return lock_within(wait_detail::time_left(deadline), std::move(done));
  }

  /// These calls can also be awaited: `co_await mutex.lock(stop)`. See Awaitable. Errors: as the
  /// functions of the same name; after a stop request, `cancelled`.
  [[nodiscard]] Awaitable<AsyncMutexGuard> lock(std::stop_token stop = {});
  [[nodiscard]] Awaitable<AsyncMutexGuard> try_lock();
  template <typename Rep, typename Period>
  [[nodiscard]] Awaitable<AsyncMutexGuard> try_lock_for(
      const std::chrono::duration<Rep, Period>& wait, std::stop_token stop = {}) {
    return lock_within([saturated = wait_detail::saturated(wait)] { return saturated; },
                       std::move(stop));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] Awaitable<AsyncMutexGuard> try_lock_until(
      const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return lock_within([deadline] { return wait_detail::time_left(deadline); }, std::move(stop));
  }

  /// Ends a call that has not answered. Cancelling too late is harmless. `AsyncClient::cancel` does
  /// not know these calls.
  void cancel(RequestId request);

 private:
  RequestId lock_within(std::chrono::nanoseconds wait,
                        Callback<void(Result<AsyncMutexGuard>)> done);
  /// `wait` is called when the call begins, which is when the call is awaited.
  [[nodiscard]] Awaitable<AsyncMutexGuard> lock_within(
      std::function<std::chrono::nanoseconds()> wait, std::stop_token stop);
  std::shared_ptr<api::AsyncMutexCore> core_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
