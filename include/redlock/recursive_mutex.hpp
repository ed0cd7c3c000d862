#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <stop_token>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/mutex.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// A mutex that its thread can lock again, like `std::recursive_mutex`: it counts the locks of the
/// thread. The second `lock()` costs no round trip, and only the last `unlock()` releases the lock.
/// For one owner in several processes see `owned`.
///
/// Locking again proves nothing: the lease may have been lost since the first lock. Ask `valid()`.
/// The locking functions throw like those of Mutex; nothing else throws.
///
/// Thread safety: all members may be called from any thread. A thread unlocks its own locks only.
/// For the client and callbacks, the rules of Mutex apply.
class REDLOCK_EXPORT RecursiveMutex {
 public:
  /// As the constructor of Mutex.
  RecursiveMutex(Client& client, Target target, AcquireOptions options = {});
  RecursiveMutex(const RecursiveMutex&) = delete;
  RecursiveMutex& operator=(const RecursiveMutex&) = delete;
  ~RecursiveMutex();

  /// As the functions of Mutex with these names.
  void lock();
  [[nodiscard]] bool lock(const std::stop_token& stop);
  [[nodiscard]] bool try_lock();
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return re_enter() || entered(mutex().try_lock_for(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return re_enter() || entered(mutex().try_lock_until(deadline));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] Result<std::unique_lock<RecursiveMutex>> try_acquire_for(
      const std::chrono::duration<Rep, Period>& wait, const std::stop_token& stop = {}) {
    return try_acquire_within(wait_detail::saturated(wait), stop);
  }
  void unlock() noexcept;

  /// The number of times that the calling thread has locked it.
  [[nodiscard]] std::size_t holds() const noexcept;

  /// As the functions of Mutex with these names.
  [[nodiscard]] bool valid() const noexcept;
  [[nodiscard]] std::stop_token lost() const;

  /// The current lease. Call it while holding the lock.
  [[nodiscard]] const Lease& lease() const noexcept;

 private:
  [[nodiscard]] Mutex& mutex() noexcept;
  [[nodiscard]] bool re_enter() noexcept;
  [[nodiscard]] Result<std::unique_lock<RecursiveMutex>> try_acquire_within(
      std::chrono::nanoseconds wait, const std::stop_token& stop);
  [[nodiscard]] bool entered(bool locked) noexcept;

  struct REDLOCK_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
