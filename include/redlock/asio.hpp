#pragma once

/// Optional: the asynchronous calls with completion tokens of Asio, for programs that have Asio.
/// redlock.hpp does not include it, and the library does not need it.
///
/// It uses Boost.Asio (1.74 or later), or else standalone Asio (1.18 or later). If both are
/// installed, REDLOCK_STANDALONE_ASIO chooses the latter.

#include "redlock/language.hpp"

#include <chrono>
#include <coroutine>
#include <exception>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

#if !defined(REDLOCK_STANDALONE_ASIO) && __has_include(<boost/asio/async_result.hpp>)
#define REDLOCK_ASIO_FLAVOUR boost_asio
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 102100
#define REDLOCK_ASIO_CANCELS 1
#include <boost/asio/associated_cancellation_slot.hpp>
#endif
#elif __has_include(<asio/async_result.hpp>)
#define REDLOCK_ASIO_FLAVOUR standalone_asio
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 102100
#define REDLOCK_ASIO_CANCELS 1
#include <asio/associated_cancellation_slot.hpp>
#endif
#else
#error "redlock/asio.hpp needs Boost.Asio (boost/asio.hpp) or standalone Asio (asio.hpp)"
#endif

#include "redlock/async_client.hpp"
#include "redlock/async_election.hpp"
#include "redlock/async_mutex.hpp"
#include "redlock/callback.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

// A namespace for each Asio, so that files with Boost's and files with standalone Asio can be
// linked into one program.
inline namespace REDLOCK_ASIO_FLAVOUR {

namespace asio_detail {

#if !defined(REDLOCK_STANDALONE_ASIO) && __has_include(<boost/asio/async_result.hpp>)
namespace net = ::boost::asio;
#else
namespace net = ::asio;
#endif

/// A coroutine that ends by itself.
struct Running {
  struct promise_type {
    Running get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

template <typename Handler>
void clear_slot([[maybe_unused]] const Handler& handler) {
#if defined(REDLOCK_ASIO_CANCELS)
  if (auto slot = net::get_associated_cancellation_slot(handler); slot.is_connected()) slot.clear();
#endif
}

template <typename Handler>
void fill_slot([[maybe_unused]] const Handler& handler,
               [[maybe_unused]] const std::stop_source& stop) {
#if defined(REDLOCK_ASIO_CANCELS)
  auto slot = net::get_associated_cancellation_slot(handler);
  if (!slot.is_connected()) return;
  slot.assign([stop](net::cancellation_type type) mutable {
    if (type != net::cancellation_type::none) stop.request_stop();
  });
#endif
}

template <typename Value>
Running run(Awaitable<Value> call, Callback<void(Result<Value>)> done) {
  Result<Value> result = co_await std::move(call);
  done(std::move(result));
}

struct Begin {
  template <typename Handler, typename Value>
  void operator()(Handler&& handler, Awaitable<Value> call, const std::stop_source& stop) const {
    auto work = net::make_work_guard(handler);
    fill_slot(handler, stop);
    run<Value>(std::move(call), [handler = std::decay_t<Handler>(std::forward<Handler>(handler)),
                                 work = std::move(work)](Result<Value> result) mutable {
      net::post(work.get_executor(),
                [handler = std::move(handler), result = std::move(result)]() mutable {
                  clear_slot(handler);
                  std::move(handler)(std::move(result));
                });
    });
  }
};

template <typename Value, typename Token>
auto initiate(Awaitable<Value> call, std::stop_source stop, Token&& token) {
  return net::async_initiate<Token, void(Result<Value>)>(Begin{}, token, std::move(call),
                                                         std::move(stop));
}

}  // namespace asio_detail

/// Any call that can be awaited, as an operation of Asio: `async_await(client.inspect("r"),
/// token)`. The functions below are short forms of it, and can be cancelled.
///
/// The handler takes a `Result`; nothing is thrown. It is posted to its associated executor, which
/// is kept busy until then (outstanding work), never called inside the initiating function, and
/// never on the client's loop thread. A plain callback without an executor runs on Asio's system
/// executor, a thread of Asio's own: use `bind_executor`.
///
/// Cancellation of any type, through the handler's cancellation slot, ends a call that waits with
/// `cancelled`. It needs Asio 1.21 or Boost 1.77; with older versions, limit the wait with
/// `async_try_acquire_for`.
template <typename Value, typename Token>
auto async_await(Awaitable<Value> call, Token&& token) {
  return asio_detail::initiate(std::move(call), std::stop_source(std::nostopstate),
                               std::forward<Token>(token));
}

/// See `AsyncClient::acquire`. With g++ 12, make the options in a statement of their own if the
/// token is `use_awaitable`: see Awaitable.
template <typename Token>
auto async_acquire(AsyncClient& client, Target target, const AcquireOptions& options,
                   Token&& token) {
  std::stop_source stop;
  auto call = client.acquire(std::move(target), options, stop.get_token());
  return asio_detail::initiate(std::move(call), std::move(stop), std::forward<Token>(token));
}

/// See `AsyncClient::try_acquire`. Cannot be cancelled.
template <typename Token>
auto async_try_acquire(AsyncClient& client, Target target, const AcquireOptions& options,
                       Token&& token) {
  return async_await(client.try_acquire(std::move(target), options), std::forward<Token>(token));
}

/// See `AsyncClient::try_acquire_for`.
template <typename Rep, typename Period, typename Token>
auto async_try_acquire_for(AsyncClient& client, Target target,
                           const std::chrono::duration<Rep, Period>& wait,
                           const AcquireOptions& options, Token&& token) {
  std::stop_source stop;
  auto call = client.try_acquire_for(std::move(target), wait, options, stop.get_token());
  return asio_detail::initiate(std::move(call), std::move(stop), std::forward<Token>(token));
}

#if defined(REDLOCK_REFUSED)
namespace asio_detail {

/// With this token the result is neither nothing nor a future: it can be awaited.
template <typename Token>
concept Awaits = requires(Awaitable<Lease> call, std::stop_source stop, Token token) {
  requires !std::is_void_v<decltype(initiate(std::move(call), std::move(stop),
                                             std::forward<Token>(token)))>;
  requires !requires {
    initiate(std::move(call), std::move(stop), std::forward<Token>(token)).wait();
  };
};

}  // namespace asio_detail

template <asio_detail::Awaits Token>
REDLOCK_REFUSED void async_acquire(AsyncClient& client, Target target, AcquireOptions&& options,
                                   Token&& token);
template <asio_detail::Awaits Token>
REDLOCK_REFUSED void async_try_acquire(AsyncClient& client, Target target, AcquireOptions&& options,
                                       Token&& token);
template <typename Rep, typename Period, asio_detail::Awaits Token>
REDLOCK_REFUSED void async_try_acquire_for(AsyncClient& client, Target target,
                                           const std::chrono::duration<Rep, Period>& wait,
                                           AcquireOptions&& options, Token&& token);
#endif

/// See `AsyncClient::extend`. Cannot be cancelled.
template <typename Token>
auto async_extend(AsyncClient& client, const Lease& lease, std::chrono::nanoseconds ttl,
                  Token&& token) {
  return async_await(client.extend(lease, ttl), std::forward<Token>(token));
}

/// See `AsyncClient::downgrade`. Cannot be cancelled.
template <typename Token>
auto async_downgrade(AsyncClient& client, const Lease& lease, Token&& token) {
  return async_await(client.downgrade(lease), std::forward<Token>(token));
}

/// See `AsyncClient::release`. Cannot be cancelled.
template <typename Token>
auto async_release(AsyncClient& client, Lease lease, Token&& token) {
  return async_await(client.release(std::move(lease)), std::forward<Token>(token));
}

/// See `AsyncClient::inspect`. Cannot be cancelled.
template <typename Token>
auto async_inspect(AsyncClient& client, std::string_view resource, Token&& token) {
  return async_await(client.inspect(resource), std::forward<Token>(token));
}

/// See `AsyncClient::close`. Cannot be cancelled.
template <typename Token>
auto async_close(AsyncClient& client, Token&& token) {
  return async_await(client.close(), std::forward<Token>(token));
}

/// See `AsyncElection::campaign`.
template <typename Token>
auto async_campaign(AsyncElection& election, Token&& token) {
  std::stop_source stop;
  auto call = election.campaign(stop.get_token());
  return asio_detail::initiate(std::move(call), std::move(stop), std::forward<Token>(token));
}

/// See `AsyncMutex::lock`.
template <typename Token>
auto async_lock(AsyncMutex& mutex, Token&& token) {
  std::stop_source stop;
  auto call = mutex.lock(stop.get_token());
  return asio_detail::initiate(std::move(call), std::move(stop), std::forward<Token>(token));
}

/// See `AsyncMutex::try_lock_for`.
template <typename Rep, typename Period, typename Token>
auto async_try_lock_for(AsyncMutex& mutex, const std::chrono::duration<Rep, Period>& wait,
                        Token&& token) {
  std::stop_source stop;
  auto call = mutex.try_lock_for(wait, stop.get_token());
  return asio_detail::initiate(std::move(call), std::move(stop), std::forward<Token>(token));
}

}  // namespace REDLOCK_ASIO_FLAVOUR
}  // namespace REDLOCK_ABI
}  // namespace redlock

#undef REDLOCK_ASIO_FLAVOUR
#undef REDLOCK_ASIO_CANCELS
