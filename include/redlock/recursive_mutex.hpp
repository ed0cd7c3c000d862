#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/mutex.hpp"
#include "redlock/target.hpp"

namespace redlock {

/// Reentrant in the client, per thread: a count in front of a Mutex. The second `lock()` of a
/// thread costs no round trip, and only the last `unlock()` goes to the nodes. For re-entry from
/// another process see `owned`.
///
/// Re-entering proves nothing: the lease may have been lost since the first lock; ask `valid()`.
/// Thread safety: all members may be called from any thread; a thread unlocks what it locked.
class REDLOCK_EXPORT RecursiveMutex {
 public:
  RecursiveMutex(Client& client, Target target, MutexOptions options = {});
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;
  ~RecursiveMutex();

  /// See Mutex for what blocks, throws and answers false.
  void lock();
  [[nodiscard]] bool lock(const std::stop_token& stop);
  [[nodiscard]] bool try_lock();
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return re_enter() || entered(mutex_.try_lock_for(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return re_enter() || entered(mutex_.try_lock_until(deadline));
  }
  void unlock() noexcept;

  /// How often the calling thread has locked it.
  [[nodiscard]] std::size_t holds() const noexcept;

  [[nodiscard]] bool valid() const noexcept { return mutex_.valid(); }
  [[nodiscard]] std::stop_token lost() const { return mutex_.lost(); }

  /// The current lease. Call it while holding the lock.
  [[nodiscard]] const Lease& lease() const noexcept { return mutex_.lease(); }

 private:
  [[nodiscard]] bool re_enter() noexcept;
  [[nodiscard]] bool entered(bool locked) noexcept;

  Mutex mutex_;
  std::atomic<std::thread::id> owner_{};  // only its own thread ever finds itself there
  std::size_t count_ = 0;                 // the owner's
};

}  // namespace redlock
