#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/mutex.hpp"

namespace redlock {

/// What every acquisition of a SharedMutex asks for.
struct SharedMutexOptions {
  std::chrono::nanoseconds ttl = limits::default_ttl;         ///< of a writer
  std::chrono::nanoseconds shared_ttl = limits::default_ttl;  ///< of a reader
  RenewalOptions renewal{};  ///< of both: no limits, renewed while it is held
};

/// A read/write lock over the nodes with the shape of `std::shared_timed_mutex`, so that
/// `std::shared_lock` and `std::unique_lock` work with it: many readers or one writer. Each reader
/// has a lease of its own, which ends by its own TTL if it dies; a writer that waits keeps new
/// readers out, so that a stream of them does not starve it. Writers also exclude whoever else
/// locks the resource exclusively.
///
/// What it can not promise is what a Mutex can not. Not recursive, and not to be upgraded: a thread
/// that reads and asks to write waits for itself.
///
/// Thread safety: all members may be called from any thread; a thread unlocks what it locked. The
/// client must outlive it.
class REDLOCK_EXPORT SharedMutex {
 public:
  SharedMutex(Client& client, std::string resource, SharedMutexOptions options = {});
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;
  ~SharedMutex();

  /// As a writer; see Mutex for what blocks, throws and answers false.
  void lock() {
    writer_.lock();
    static_cast<void>(became_writer(true));
  }
  [[nodiscard]] bool lock(const std::stop_token& stop) { return became_writer(writer_.lock(stop)); }
  [[nodiscard]] bool try_lock() { return became_writer(writer_.try_lock()); }
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return became_writer(writer_.try_lock_for(wait));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return became_writer(writer_.try_lock_until(deadline));
  }
  void unlock() noexcept;

  /// As a reader, in the same way.
  void lock_shared() { static_cast<void>(obtain_shared(forever, {})); }
  [[nodiscard]] bool lock_shared(const std::stop_token& stop) {
    return obtain_shared(forever, stop);
  }
  [[nodiscard]] bool try_lock_shared() { return obtain_shared(std::chrono::nanoseconds{0}, {}); }
  template <typename Rep, typename Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) {
    return obtain_shared(Mutex::saturated(wait), {});
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] bool try_lock_shared_until(
      const std::chrono::time_point<Clock, Duration>& deadline) {
    return obtain_shared(Mutex::time_left(deadline), {});
  }
  /// Releases the calling thread's without waiting for the answers. Never throws.
  void unlock_shared() noexcept;

  /// Whether the calling thread holds it, as the writer or a reader, and the deadline has not
  /// passed. False in every other thread, whoever holds it.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the calling thread's lease is lost, the writer's or a reader's. Of a thread
  /// that holds none it never is. Other threads of the holder's work may be given it.
  [[nodiscard]] std::stop_token lost() const;

 private:
  [[nodiscard]] bool became_writer(bool locked) noexcept;
  [[nodiscard]] bool is_writer() const noexcept;
  [[nodiscard]] bool obtain_shared(std::chrono::nanoseconds wait, const std::stop_token& stop);

  Client& client_;
  std::string resource_;
  SharedMutexOptions options_;
  Mutex writer_;
  std::atomic<std::thread::id> writing_{};  // only its own thread ever finds itself there
  mutable std::mutex mutex_;
  std::map<std::thread::id, Lease> readers_;  // guarded by mutex_
};

}  // namespace redlock
