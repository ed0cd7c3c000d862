#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string_view>

#include "redlock/callback.hpp"
#include "redlock/clock.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/counters.hpp"
#include "redlock/export.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

struct uv_loop_s;

namespace redlock {

namespace api {
class ClientCore;
}  // namespace api

/// The asynchronous interface: any number of calls in flight over one connection per node.
///
/// Every call answers through its callback exactly once, on the client's loop thread, later and
/// never inside the call itself. A client that is closed, was moved from, or belongs to the parent
/// process of a forked child has no such thread: it answers inside the call, with `closed` or
/// `forked`. Callbacks must not block; they may call the client again, and destroy it.
///
/// Thread safety: with its own loop thread, all members may be called from any thread. On a
/// caller's loop, only from the thread that runs it. Leases may be used from any thread either way.
class REDLOCK_EXPORT AsyncClient {
 public:
  /// A client with a loop thread of its own. Nothing is sent when an option is refused.
  [[nodiscard]] static Result<AsyncClient> create(ClientOptions options);

  /// A client on a loop that the caller runs (`uv_loop_t*`) and keeps until `close` has answered.
  [[nodiscard]] static Result<AsyncClient> create(ClientOptions options, uv_loop_s* loop);

  AsyncClient(AsyncClient&&) noexcept;
  AsyncClient& operator=(AsyncClient&&) noexcept;
  AsyncClient(const AsyncClient&) = delete;
  AsyncClient& operator=(const AsyncClient&) = delete;

  /// Closes. With its own thread it waits as `close` does; on a caller's loop, call `close` and run
  /// the loop until it has answered: destroying an open client there drops its connections.
  ~AsyncClient();

  /// The four ways to acquire, as those of Client: `acquire` waits for as long as `options.wait`
  /// allows, forever by default; `try_acquire` asks once; the others bound the wait. `cancel` ends
  /// it. Errors: held, split, unavailable, expired, excluded, cancelled, closed, forked,
  /// invalid_argument, limit_reached.
  RequestId acquire(Target target, AcquireOptions options, Callback<void(Result<Lease>)> done);
  RequestId try_acquire(Target target, AcquireOptions options, Callback<void(Result<Lease>)> done);
  RequestId try_acquire_for(Target target, std::chrono::nanoseconds wait, AcquireOptions options,
                            Callback<void(Result<Lease>)> done);
  RequestId try_acquire_until(Target target, BootClock::time_point deadline, AcquireOptions options,
                              Callback<void(Result<Lease>)> done);

  /// See `Lease::extend`. A lease of another client is that client's: it extends it and answers.
  void extend(const Lease& lease, std::chrono::nanoseconds ttl,
              Callback<void(Result<RoundReport>)> done);

  /// See `Lease::release`. A lease of another client is that client's: it releases it and answers.
  void release(Lease lease, Callback<void(Result<RoundReport>)> done);

  /// Extends by a token that was detached or got from another process. Errors as Lease::extend.
  void extend(std::string_view resource, const Token& token, std::chrono::nanoseconds ttl,
              Callback<void(Result<RoundReport>)> done);

  /// Releases by a token that was detached or got from another process.
  void release(std::string_view resource, const Token& token,
               Callback<void(Result<RoundReport>)> done);

  /// Asks every node what it stores for the resource; answers when all have answered or missed
  /// their time limit. Errors: closed, forked, invalid_argument.
  void inspect(std::string_view resource, Callback<void(Result<Inspection>)> done);

  /// See `Client::ownership`.
  void ownership(std::string_view resource, const Token& token,
                 Callback<void(Result<Ownership>)> done);

  /// The same calls to be awaited: `co_await client.acquire("invoice/42")`. See Awaitable, also for
  /// where to make the options.
  [[nodiscard]] Awaitable<Lease> acquire(Target target);
  [[nodiscard]] Awaitable<Lease> acquire(Target target, AcquireOptions options,
                                         std::stop_token stop = {});
  [[nodiscard]] Awaitable<Lease> try_acquire(Target target);
  [[nodiscard]] Awaitable<Lease> try_acquire(Target target, AcquireOptions options);
  [[nodiscard]] Awaitable<Lease> try_acquire_for(Target target, std::chrono::nanoseconds wait);
  [[nodiscard]] Awaitable<Lease> try_acquire_for(Target target, std::chrono::nanoseconds wait,
                                                 AcquireOptions options, std::stop_token stop = {});
  [[nodiscard]] Awaitable<Lease> try_acquire_until(Target target, BootClock::time_point deadline);
  [[nodiscard]] Awaitable<Lease> try_acquire_until(Target target, BootClock::time_point deadline,
                                                   AcquireOptions options,
                                                   std::stop_token stop = {});
  [[nodiscard]] Awaitable<RoundReport> extend(const Lease& lease, std::chrono::nanoseconds ttl);
  [[nodiscard]] Awaitable<RoundReport> release(Lease lease);
  [[nodiscard]] Awaitable<RoundReport> extend(std::string_view resource, const Token& token,
                                              std::chrono::nanoseconds ttl);
  [[nodiscard]] Awaitable<RoundReport> release(std::string_view resource, const Token& token);
  [[nodiscard]] Awaitable<Inspection> inspect(std::string_view resource);
  [[nodiscard]] Awaitable<Ownership> ownership(std::string_view resource, const Token& token);

  /// Ends an acquire that has not answered yet: it answers `cancelled`, and what its attempts left
  /// on the nodes is released. Too late is harmless.
  void cancel(RequestId request);

  /// Thread-safe; a snapshot.
  [[nodiscard]] Counters counters() const noexcept;

  /// Ends every call with `closed`, releases every lease, waits until every release has been
  /// answered, at most one node time limit, and closes the connections. A node that went away in
  /// the meantime is connected to again for what may be left there. The report names the nodes
  /// where releases could not be delivered; there, keys stay until they expire.
  void close(Callback<void(const CloseReport&)> done);

 private:
  explicit AsyncClient(std::shared_ptr<api::ClientCore> core) noexcept;
  std::shared_ptr<api::ClientCore> core_;
};

}  // namespace redlock
