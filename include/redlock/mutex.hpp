#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/target.hpp"

namespace redlock {

/// What every acquisition of a Mutex asks for.
struct MutexOptions {
  std::chrono::nanoseconds ttl = limits::default_ttl;  ///< also how long a crashed holder blocks
  RenewalOptions renewal{};                            ///< no limits: renewed while it is held
};

/// A lock over the nodes with the shape of `std::timed_mutex` (Lockable and TimedLockable), so that
/// `std::unique_lock`, `std::scoped_lock` and `std::lock` work with it. The lease is renewed while
/// it is held.
///
/// What it can not promise, and a std::mutex can: that you still hold it. Ask `valid()` or watch
/// `lost()` where that matters. Not recursive.
///
/// Thread safety: all members may be called from any thread. Threads that share one Mutex object
/// queue in the process first and only one of them contends at the nodes; use one object per
/// resource and process. The client must outlive it.
class REDLOCK_EXPORT Mutex {
 public:
  Mutex(Client& client, Target target, MutexOptions options = {});
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex();

  /// Blocks until held; outages are waited out. Throws std::system_error only for what waiting can
  /// not mend: an invalid resource or TTL, a closed or forked client.
  void lock();

  /// As `lock`, ended by `stop`: then it answers false.
  [[nodiscard]] bool lock(const std::stop_token& stop);

  /// One attempt. False: not held, for whatever reason; throws as `lock`.
  [[nodiscard]] bool try_lock();

  /// False only after the time has passed; throws as `lock`.
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(saturated(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_within(time_left(deadline));
  }

  /// Releases without waiting for the answers. Never throws; unlocking what was lost is harmless.
  void unlock() noexcept;

  /// Whether the lease is held and its deadline has not passed.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the current lease is lost. Call it while holding the lock.
  [[nodiscard]] std::stop_token lost() const;

  /// The current lease. Call it while holding the lock.
  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }

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
  [[nodiscard]] bool obtain(std::chrono::nanoseconds wait, const std::stop_token& stop);
  [[nodiscard]] bool enter(std::chrono::nanoseconds wait, const std::stop_token& stop);
  void leave() noexcept;

  Client& client_;
  Target target_;
  MutexOptions options_;
  mutable std::mutex local_mutex_;          // guards taken_, and lease_ where it changes
  std::condition_variable_any local_free_;  // not a std::timed_mutex: it can not be cancelled
  bool taken_ = false;
  Lease lease_;
};

}  // namespace redlock
