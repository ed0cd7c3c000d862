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

namespace redlock::api {
class ClientCore;
}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {

/// A lock over the nodes with the shape of `std::timed_mutex` (Lockable and TimedLockable), so that
/// `std::unique_lock`, `std::scoped_lock` and `std::lock` work with it. The options are those of
/// the lease of each lock: the lease is renewed while it is held, and has a fencing token if the
/// options say so.
///
/// Unlike a std::mutex, it cannot promise that it is still held: the lease may have been lost. Ask
/// `valid()` or watch `lost()` if that matters. Not recursive.
///
/// The locking functions throw, because the standard's lock guards have no other way to learn of an
/// error. They throw std::system_error, with the code of the error, for errors that waiting cannot
/// resolve: closed, forked, would_block, invalid_argument, limit_reached. Those that wait without a
/// limit also throw excluded, with which their wait ends if no waiting helps: see Errc. Nothing
/// else throws.
///
/// Threads that share one Mutex object queue in the process first, and only one of them contends at
/// the nodes. `unlock()` passes the lease on to the next of them without asking a node, as long as
/// the lease is valid for at least half of its TTL. To stay fair, a lease is handed on for at most
/// one TTL, and at most 16 times while other clients wait; then it is released. A thread that has
/// waited for a millisecond goes before threads that have just come. Each holder has a lease of its
/// own if the options limit the renewal or switch it off, and for an `interval`.
///
/// Threads that pass a lease on share its fencing token: among these threads, the mutex keeps the
/// order. So storage must accept a number that equals the largest it has seen, and refuse smaller
/// ones.
///
/// Thread safety: all members may be called from any thread. Use one object per resource and
/// process. It does not need the Client object, which may be moved; when the client is closed or
/// destroyed, the lease ends, `lost()` is signalled, and the locking functions throw `closed`.
/// Callbacks of the options run on the client's loop thread.
class REDLOCK_EXPORT Mutex {
 public:
  /// Sends nothing. An unusable target or option is refused by the locking functions.
  Mutex(Client& client, Target target, AcquireOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  /// Blocks until held and waits out outages. Throws as described above.
  void lock();

  /// As `lock()`. Returns false if `stop` is requested before it holds the lock.
  [[nodiscard]] bool lock(const std::stop_token& stop);

  /// Asks once. False: not held; `try_acquire_for` says why. Throws as `lock`.
  [[nodiscard]] bool try_lock();

  /// Waits for at most `wait`, or until `deadline` of any clock. False: not held by then. Throws as
  /// `lock`.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(wait_detail::saturated(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_within(wait_detail::time_left(deadline));
  }

  /// Waits for at most `wait`, and says why it is not held then: zero or less asks once, `forever`
  /// waits out outages. Never throws. Errors: as `Client::try_acquire_for`; held also if another
  /// thread of this process holds it.
  ///
  ///     auto locked = mutex.try_acquire_for(5s);   // a Result of std::unique_lock
  ///     if (!locked) return locked.error();
  template <typename Rep, typename Period>
  [[nodiscard]] Result<std::unique_lock<Mutex>> try_acquire_for(
      const std::chrono::duration<Rep, Period>& wait, const std::stop_token& stop = {}) {
    return try_acquire_within(wait_detail::saturated(wait), stop);
  }

  /// Passes the lease on to a thread of this process that waits, or releases it without waiting for
  /// the answers. Unlocking a lock that was lost is harmless.
  void unlock() noexcept;

  /// Whether the lease is held, by whichever thread of the process, and its deadline has not
  /// passed: call it while holding the lock. False in a forked child.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the current lease is lost, and when the client is closed: see `Lease::lost`.
  /// Call it while holding the lock, and read the token before unlocking: it belongs to the lease,
  /// so it is also signalled if the lease is passed on and lost by a later holder.
  [[nodiscard]] std::stop_token lost() const;

  /// The current lease, which may have been passed on to this holder. Call it while holding the
  /// lock.
  [[nodiscard]] const Lease& lease() const noexcept;

 private:
  friend class RecursiveMutex;
  friend class SharedMutex;
  [[nodiscard]] bool try_lock_within(std::chrono::nanoseconds wait);
  [[nodiscard]] Result<std::unique_lock<Mutex>> try_acquire_within(std::chrono::nanoseconds wait,
                                                                   const std::stop_token& stop);
  [[nodiscard]] REDLOCK_HIDDEN const std::shared_ptr<api::ClientCore>& core() const noexcept;
  /// If the lock is not held, fills in `why`; without `why`, it throws.
  [[nodiscard]] REDLOCK_HIDDEN bool obtain(std::chrono::nanoseconds wait,
                                           const std::stop_token& stop, Error* why = nullptr);
  /// From now on, other clients count as unknown: readers of this process wait at the nodes, too.
  REDLOCK_HIDDEN void hide_others() noexcept;

  struct REDLOCK_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
