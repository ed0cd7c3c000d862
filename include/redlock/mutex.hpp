#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <stop_token>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

namespace redlock {

/// The terms of every acquisition of a Mutex.
struct REDLOCK_EXPORT MutexOptions {
  std::chrono::nanoseconds ttl = limits::default_ttl;  ///< also how long a crashed holder blocks
  RenewalOptions renewal{};                            ///< no limits: renewed while it is held
};

/// A lock over the nodes with the shape of `std::timed_mutex` (Lockable and TimedLockable), so that
/// `std::unique_lock`, `std::scoped_lock` and `std::lock` work with it. The lease is renewed while
/// it is held.
///
/// Unlike a std::mutex, it cannot promise that it is still held: the lease may have been lost. Ask
/// `valid()` or watch `lost()` if that matters. Not recursive.
///
/// The locking functions throw, because the standard's lock guards have no other way to learn of an
/// error: std::system_error with the code of the error, for an error that no waiting resolves,
/// which is one of closed, forked, would_block, invalid_argument, limit_reached. Nothing else
/// throws.
///
/// Threads that share one Mutex object queue in the process first, and only one of them contends
/// at the nodes. `unlock()` passes the lease on to the next of them without asking a node, as long
/// as the lease is valid for at least half of its TTL. Other clients are not passed over for long:
/// a lease is passed on for one TTL at most, and 16 times unless no other client is known to wait;
/// it is then released. A thread that has waited for a millisecond is ahead of those that have just
/// come. Each holder has a lease of its own where the terms limit the renewal, and for an
/// `interval`.
///
/// Thread safety: all members may be called from any thread. Use one object per resource and
/// process. The client must outlive it. There are no callbacks.
class REDLOCK_EXPORT Mutex {
 public:
  /// Sends nothing. An unusable target or option is refused by the locking functions.
  Mutex(Client& client, Target target, MutexOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  /// Blocks until held and waits out outages. Throws as described above.
  void lock();

  /// As `lock`. Returns false once `stop` is requested.
  [[nodiscard]] bool lock(const std::stop_token& stop);

  /// Asks once. False: not held, for whatever reason: see `try_acquire_for`. Throws as `lock`.
  [[nodiscard]] bool try_lock();

  /// Returns false only after the time has passed. Throws as `lock`.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(saturated(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_within(time_left(deadline));
  }

  /// Waits for at most `wait`, and says why where it is not held then: zero or less asks once,
  /// `forever` waits out outages. Never throws. Errors: as `Client::try_acquire_for`; held also
  /// where another thread of this process holds it.
  ///
  ///     auto lock = mutex.try_acquire_for(5s);   // a Result of std::unique_lock
  ///     if (!lock) return lock.error();
  [[nodiscard]] Result<std::unique_lock<Mutex>> try_acquire_for(std::chrono::nanoseconds wait,
                                                                const std::stop_token& stop = {});

  /// Passes the lease on to a thread of this process that waits, or releases it without waiting for
  /// the answers. Unlocking a lock that was lost is harmless.
  void unlock() noexcept;

  /// Whether the lease is held and its deadline has not passed.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the current lease is lost. Call it while holding the lock, and read the token
  /// before unlocking: it belongs to the lease, so it is also signalled if the lease is passed on
  /// and lost by a later holder.
  [[nodiscard]] std::stop_token lost() const;

  /// The current lease, which may have been passed on to this holder. Call it while holding the
  /// lock.
  [[nodiscard]] const Lease& lease() const noexcept;

 private:
  friend class SharedMutex;
  // Wide enough for the beginning and the end of time.
  using Wide = std::chrono::duration<long double, std::nano>;

  template <typename Clock, typename Duration>
  [[nodiscard]] static std::chrono::nanoseconds time_left(
      const std::chrono::time_point<Clock, Duration>& deadline) {
    return saturated(Wide(deadline.time_since_epoch()) - Wide(Clock::now().time_since_epoch()));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] static std::chrono::nanoseconds saturated(
      const std::chrono::duration<Rep, Period>& wait) {
    if (Wide(wait) >= Wide(forever)) return forever;
    if (wait <= wait.zero()) return std::chrono::nanoseconds{0};
    return std::chrono::ceil<std::chrono::nanoseconds>(wait);
  }
  [[nodiscard]] bool try_lock_within(std::chrono::nanoseconds wait);
  /// Fills in `why` it is not held. Without, it throws.
  [[nodiscard]] REDLOCK_HIDDEN bool obtain(std::chrono::nanoseconds wait,
                                           const std::stop_token& stop, Error* why = nullptr);
  /// There may always be others that wait: readers of this process wait at the nodes.
  REDLOCK_HIDDEN void hide_others() noexcept;

  struct REDLOCK_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace redlock
