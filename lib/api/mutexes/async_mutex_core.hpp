#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "api/client/client_core.hpp"
#include "api/client/local_waits.hpp"
#include "api/mutexes/cohort.hpp"
#include "core/vocabulary/time.hpp"
#include "redlock/async_mutex.hpp"

namespace redlock::api {

using GuardDone = Callback<void(Result<AsyncMutexGuard>)>;

/// The state that an AsyncMutex, its calls and its guards share: the Cohort, and the lease that it
/// passes on.
///
/// Calls, and guards that unlock, are jobs of the loop's thread, so that the nodes see a release
/// before the next acquire. Once the client is closed, jobs run on any thread: hence the mutex. No
/// code of the user's runs under it.
class AsyncMutexCore final : public std::enable_shared_from_this<AsyncMutexCore> {
 public:
  AsyncMutexCore(std::shared_ptr<ClientCore> client, Target target, AcquireOptions options);

  RequestId lock(std::chrono::nanoseconds wait, GuardDone done);
  void cancel(RequestId request);
  /// The AsyncMutex is gone: ends all calls that wait.
  void end();

  // --- for the guard ---
  void unlock() noexcept;
  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }

 private:
  using Lock = std::unique_lock<std::mutex>;

  /// A call that has not answered.
  struct Caller : api::Cohort::Waiter {
    RequestId request{};
    core::Instant until{};
    GuardDone done;
    bool queued = false;
    bool cancelled = false;
    LocalWaits::Id local{};  ///< while it is queued
    RequestId acquire{};     ///< zero while it is queued
  };
  /// Whether the code runs inside the call itself, which must not be answered before it returns.
  enum class Inside : std::uint8_t { no, call };

  // All of these take the lock and return without it.
  void begin(Lock& lock, Caller& caller);
  void enter(Lock& lock, Caller& caller, Inside where);
  void take_passed_lease(Lock& lock, Caller& caller, Inside where);
  void acquire(Lock& lock, Caller& caller);
  void leave(Lock& lock) noexcept;
  void give_up(Lock& lock, Caller& caller, Errc why, Inside where);
  void cancel(Lock& lock, Caller& caller);
  void answer(Lock& lock, Caller& caller, Result<AsyncMutexGuard> result, Inside where);

  // Run as jobs of the client.
  void woken(RequestId request);
  void over(RequestId request, LocalWaits::End end);
  void acquired(RequestId request, Result<Lease> result);

  [[nodiscard]] Caller* find(RequestId request) noexcept;
  void leave_queue(Caller& caller) noexcept;
  [[nodiscard]] Error explain(Errc why) const;
  void ask_for_others();

  const std::shared_ptr<ClientCore> client_;
  const Target target_;
  const AcquireOptions options_;

  std::mutex mutex_;  // guards the members below; for the lease: its changes
  api::Cohort cohort_;
  std::map<RequestId, std::unique_ptr<Caller>> callers_;
  bool ended_ = false;
  Lease lease_;
};

}  // namespace redlock::api
