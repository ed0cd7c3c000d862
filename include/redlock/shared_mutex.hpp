#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/mutex.hpp"
#include "redlock/result.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// A read/write lock over the nodes with the shape of `std::shared_timed_mutex`, so that
/// `std::shared_lock` and `std::unique_lock` work with it: many readers or one writer. Each reader
/// has a lease of its own, which expires by its own TTL if the reader dies. While a writer waits,
/// the nodes admit no new readers. A writer excludes every other holder of the resource.
///
/// Takes a resource name, not a Target. The options apply to every lease, a reader's and the
/// writer's. Only the writer's lease has a fencing token, because readers are not ordered.
///
/// Like a Mutex, it cannot promise that it is still held. It is not recursive and has no upgrade: a
/// thread that reads and asks to write waits for itself. The locking functions throw like those of
/// Mutex; nothing else throws.
///
/// Thread safety: all members may be called from any thread. A thread unlocks its own locks only.
/// For the client and callbacks, the rules of Mutex apply.
class REDLOCK_EXPORT SharedMutex {
 public:
  /// Sends nothing. An unusable resource or option is refused by the locking functions.
  SharedMutex(Client& client, std::string resource, AcquireOptions options = {});
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex();

  /// These functions lock as a writer. They are like the functions of Mutex with these names.
  void lock();
  [[nodiscard]] bool lock(const std::stop_token& stop);
  [[nodiscard]] bool try_lock();
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(wait_detail::saturated(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_within(wait_detail::time_left(deadline));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] Result<std::unique_lock<SharedMutex>> try_acquire_for(
      const std::chrono::duration<Rep, Period>& wait, const std::stop_token& stop = {}) {
    return try_acquire_within(wait_detail::saturated(wait), stop);
  }
  void unlock() noexcept;

  /// These functions lock as a reader, in the same way.
  void lock_shared();
  [[nodiscard]] bool lock_shared(const std::stop_token& stop);
  [[nodiscard]] bool try_lock_shared();
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_shared_within(wait_detail::saturated(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_shared_until(
      const std::chrono::time_point<Clock, Duration>& deadline) {
    return try_lock_shared_within(wait_detail::time_left(deadline));
  }
  template <typename Rep, typename Period>
  [[nodiscard]] Result<std::shared_lock<SharedMutex>> try_acquire_shared_for(
      const std::chrono::duration<Rep, Period>& wait, const std::stop_token& stop = {}) {
    return try_acquire_shared_within(wait_detail::saturated(wait), stop);
  }
  /// Releases the calling thread's hold without waiting for the answers.
  void unlock_shared() noexcept;

  /// Whether the calling thread holds the lock, as the writer or a reader, and its deadline has not
  /// passed. False in every other thread.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the calling thread's lease, as the writer or a reader, is lost. Never signalled
  /// without a lease. The token can be passed to other threads.
  [[nodiscard]] std::stop_token lost() const;

  /// The calling thread's lease, until it unlocks. Without one, an empty lease.
  [[nodiscard]] const Lease& lease() const noexcept;

 private:
  [[nodiscard]] bool try_lock_within(std::chrono::nanoseconds wait);
  [[nodiscard]] bool try_lock_shared_within(std::chrono::nanoseconds wait);
  [[nodiscard]] Result<std::unique_lock<SharedMutex>> try_acquire_within(
      std::chrono::nanoseconds wait, const std::stop_token& stop);
  [[nodiscard]] Result<std::shared_lock<SharedMutex>> try_acquire_shared_within(
      std::chrono::nanoseconds wait, const std::stop_token& stop);

  struct REDLOCK_HIDDEN State;
  std::unique_ptr<State> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
