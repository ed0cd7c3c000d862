#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include "redlock/callback.hpp"
#include "redlock/clock.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/export.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/metrics.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

struct uv_loop_s;

namespace redlock::api {
class ClientCore;
struct CoreOf;
}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {

extern template class Awaitable<Lease>;
extern template class Awaitable<Round>;
extern template class Awaitable<Inspection>;
extern template class Awaitable<Ownership>;
extern template class Awaitable<std::uint64_t>;
extern template class Awaitable<Metrics>;
extern template class Awaitable<CloseReport>;

/// The asynchronous interface: any number of calls in flight over one connection per node.
///
/// Every call answers through its callback exactly once, on the client's loop thread, later and
/// never inside the call itself; `watch` answers at every change. A client that is closed, was
/// moved from, or belongs to the parent process of a forked child has no such thread: it answers
/// inside the call, with `closed` or `forked`. Callbacks must not block. They may call the client
/// again, and destroy it. No function throws.
///
/// Thread safety: with a loop thread of its own, all members may be called from any thread. On a
/// caller's loop, only from the thread that runs it. Leases may be used from any thread either way.
class REDLOCK_EXPORT AsyncClient {
 public:
  /// A client with a loop thread of its own. Nothing is sent if an option is refused. Errors:
  /// invalid_argument, limit_reached (no file descriptor is free).
  [[nodiscard]] static Result<AsyncClient> create(ClientOptions options);

  /// A client on a loop that the caller runs (`uv_loop_t*`) and keeps until `close` has answered.
  /// Errors: as above.
  [[nodiscard]] static Result<AsyncClient> create(ClientOptions options, uv_loop_s* loop);

  AsyncClient(AsyncClient&&) noexcept;
  AsyncClient& operator=(AsyncClient&&) noexcept;
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  /// Closes. With a thread of its own it waits as `close` does. On a caller's loop, call `close`
  /// and run the loop until it has answered: destroying an open client there drops its connections.
  ~AsyncClient();

  /// The four ways to acquire, as in Client: `acquire` waits until granted, `try_acquire` asks
  /// once, the others limit the wait. `cancel` ends the call. Errors: as the function of Client,
  /// without would_block.
  RequestId acquire(Target target, AcquireOptions options, Callback<void(Result<Lease>)> done);
  RequestId try_acquire(Target target, AcquireOptions options, Callback<void(Result<Lease>)> done);
  template <typename Rep, typename Period>
  RequestId try_acquire_for(Target target, const std::chrono::duration<Rep, Period>& wait,
                            AcquireOptions options, Callback<void(Result<Lease>)> done) {
    return acquire_within(std::move(target), wait_detail::saturated(wait), std::move(options),
                          std::move(done));
  }
  template <typename Clock, typename Duration>
  RequestId try_acquire_until(Target target,
                              const std::chrono::time_point<Clock, Duration>& deadline,
                              AcquireOptions options, Callback<void(Result<Lease>)> done) {
    return acquire_within(std::move(target), wait_detail::time_left(deadline), std::move(options),
                          std::move(done));
  }

  /// See `Lease::extend`. The client that granted the lease extends it and answers. Errors: as
  /// there, without would_block.
  void extend(const Lease& lease, std::chrono::nanoseconds ttl, Callback<void(Result<Round>)> done);

  /// See `Lease::downgrade`. The client that granted the lease asks and answers. Errors: as there,
  /// without would_block.
  void downgrade(const Lease& lease, Callback<void(Result<Round>)> done);

  /// See `Lease::release`. The client that granted the lease releases it and answers. Errors: as
  /// there, without would_block.
  void release(Lease lease, Callback<void(Result<Round>)> done);

  /// See `Client::adopt`. Errors: as there, without would_block.
  void adopt(DetachedLease detached, AcquireOptions options, Callback<void(Result<Lease>)> done);

  /// See `Client::extend`. Errors: as there, without would_block.
  void extend(Target target, const Token& token, std::chrono::nanoseconds ttl,
              Callback<void(Result<Round>)> done);

  /// See `Client::downgrade`. Errors: as there, without would_block.
  void downgrade(std::string_view resource, const Token& token, Callback<void(Result<Round>)> done);

  /// See `Client::release`. Errors: as there, without would_block.
  void release(Target target, const Token& token, Callback<void(Result<Round>)> done);

  /// See `Client::break_lock`. Errors: as there, without would_block.
  void break_lock(std::string_view resource, const Token& token, BreakOptions options,
                  Callback<void(Result<Round>)> done);

  /// Asks every node what it stores for the resource. Answers when all have answered or missed
  /// their time limit. Errors: closed, forked, invalid_argument.
  void inspect(std::string_view resource, Callback<void(Result<Inspection>)> done);

  /// See `Client::watch`. Answers more than once: with an inspection, first at once and then after
  /// every change, until `cancel` or the end of the client, and with the error at the end. Errors:
  /// cancelled, closed, forked, invalid_argument.
  RequestId watch(std::string_view resource, WatchOptions options,
                  Callback<void(Result<Inspection>)> changed);

  /// See `Client::ownership`. Errors: as there, without would_block.
  void ownership(std::string_view resource, const Token& token,
                 Callback<void(Result<Ownership>)> done);

  /// These calls can also be awaited: `co_await client.acquire("invoice/42")`. See Awaitable, which
  /// also says where to make the options. Errors: as the functions of the same name; after a stop
  /// request, `cancelled`.
  [[nodiscard]] Awaitable<Lease> acquire(Target target);
  [[nodiscard]] Awaitable<Lease> acquire(Target target, const AcquireOptions& options,
                                         std::stop_token stop = {});
  [[nodiscard]] Awaitable<Lease> try_acquire(Target target);
  [[nodiscard]] Awaitable<Lease> try_acquire(Target target, const AcquireOptions& options);
  template <typename Rep, typename Period>
  [[nodiscard]] Awaitable<Lease> try_acquire_for(Target target,
                                                 const std::chrono::duration<Rep, Period>& wait) {
    return acquire_within(std::move(target), until(wait), AcquireOptions{}, std::stop_token{});
  }
  template <typename Rep, typename Period>
  [[nodiscard]] Awaitable<Lease> try_acquire_for(Target target,
                                                 const std::chrono::duration<Rep, Period>& wait,
                                                 const AcquireOptions& options,
                                                 std::stop_token stop = {}) {
    return acquire_within(std::move(target), until(wait), options, std::move(stop));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] Awaitable<Lease> try_acquire_until(
      Target target, const std::chrono::time_point<Clock, Duration>& deadline) {
    return acquire_within(std::move(target), until(deadline), AcquireOptions{}, std::stop_token{});
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] Awaitable<Lease> try_acquire_until(
      Target target, const std::chrono::time_point<Clock, Duration>& deadline,
      const AcquireOptions& options, std::stop_token stop = {}) {
    return acquire_within(std::move(target), until(deadline), options, std::move(stop));
  }
  [[nodiscard]] Awaitable<Lease> adopt(DetachedLease detached);
  [[nodiscard]] Awaitable<Lease> adopt(DetachedLease detached, const AcquireOptions& options);
  [[nodiscard]] Awaitable<Round> extend(const Lease& lease, std::chrono::nanoseconds ttl);
  [[nodiscard]] Awaitable<Round> downgrade(const Lease& lease);
  [[nodiscard]] Awaitable<Round> release(Lease lease);
  [[nodiscard]] Awaitable<Round> extend(Target target, const Token& token,
                                        std::chrono::nanoseconds ttl);
  [[nodiscard]] Awaitable<Round> downgrade(std::string_view resource, const Token& token);
  [[nodiscard]] Awaitable<Round> release(Target target, const Token& token);
  [[nodiscard]] Awaitable<Round> break_lock(std::string_view resource, const Token& token,
                                            BreakOptions options = {});
  [[nodiscard]] Awaitable<Inspection> inspect(std::string_view resource);
  [[nodiscard]] Awaitable<Ownership> ownership(std::string_view resource, const Token& token);
  /// See `Client::watch`: calls `changed` on the loop thread until `stop` is requested, and then
  /// answers with the number of calls. An exception that `changed` throws ends the program, as in
  /// every Callback. Errors: closed, forked, invalid_argument (also an empty `changed`); never
  /// cancelled.
  [[nodiscard]] Awaitable<std::uint64_t> watch(std::string_view resource,
                                               std::function<void(const Inspection&)> changed,
                                               std::stop_token stop, WatchOptions options = {});
  [[nodiscard]] Awaitable<Metrics> metrics() const;
  /// The result is never an error.
  [[nodiscard]] Awaitable<CloseReport> close();

#if defined(REDLOCK_REFUSED)
  REDLOCK_REFUSED Awaitable<Lease> acquire(Target target, AcquireOptions&& options,
                                           std::stop_token stop = {});
  REDLOCK_REFUSED Awaitable<Lease> try_acquire(Target target, AcquireOptions&& options);
  template <typename Rep, typename Period>
  REDLOCK_REFUSED Awaitable<Lease> try_acquire_for(Target target,
                                                   const std::chrono::duration<Rep, Period>& wait,
                                                   AcquireOptions&& options,
                                                   std::stop_token stop = {});
  template <typename Clock, typename Duration>
  REDLOCK_REFUSED Awaitable<Lease> try_acquire_until(
      Target target, const std::chrono::time_point<Clock, Duration>& deadline,
      AcquireOptions&& options, std::stop_token stop = {});
  REDLOCK_REFUSED Awaitable<Lease> adopt(DetachedLease detached, AcquireOptions&& options);
  template <OwningTemporary<std::function<void(const Inspection&)>> Temporary>
  REDLOCK_REFUSED Awaitable<std::uint64_t> watch(std::string_view resource, Temporary&& changed,
                                                 std::stop_token stop, WatchOptions options = {});
#endif

  /// Ends an acquire that has not answered: it answers `cancelled`, and everything that its
  /// attempts left on the nodes is released. Ends a watch, too. Cancelling too late is harmless.
  void cancel(RequestId request);

  /// See `Client::metrics`. Errors: closed, forked.
  void metrics(Callback<void(Result<Metrics>)> done) const;

  /// Ends every call with `closed` and releases every lease, whose `lost()` is signalled before
  /// `done` is called. Then waits until every release has been answered, at most one node time
  /// limit, and closes the connections. To deliver releases, it reconnects to nodes whose
  /// connection has ended in the meantime. The report names the nodes to which releases could not
  /// be delivered: keys stay there until they expire. There are no errors.
  void close(Callback<void(const CloseReport&)> done);

 private:
  friend struct api::CoreOf;
  /// Returns how long a call waits. It is called when the call begins, which is when the call is
  /// awaited.
  using Wait = std::function<std::chrono::nanoseconds()>;
  template <typename Rep, typename Period>
  [[nodiscard]] static Wait until(const std::chrono::duration<Rep, Period>& wait) {
    return [saturated = wait_detail::saturated(wait)] { return saturated; };
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] static Wait until(const std::chrono::time_point<Clock, Duration>& deadline) {
    return [deadline] { return wait_detail::time_left(deadline); };
  }
  RequestId acquire_within(Target target, std::chrono::nanoseconds wait, AcquireOptions options,
                           Callback<void(Result<Lease>)> done);
  [[nodiscard]] Awaitable<Lease> acquire_within(Target target, Wait wait,
                                                const AcquireOptions& options,
                                                std::stop_token stop);
  REDLOCK_HIDDEN explicit AsyncClient(std::shared_ptr<api::ClientCore> core) noexcept;
  std::shared_ptr<api::ClientCore> core_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
