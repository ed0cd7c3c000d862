#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "api/client/awaitable.hpp"
#include "api/client/client_core.hpp"
#include "api/client/core_of.hpp"
#include "redlock/async_client.hpp"
#include "runtime/explain.hpp"

/// The calls of all asynchronous classes: with a callback, or awaited. As those of the blocking
/// ones (api/client/blocking.hpp), they are shells over the calls of ClientCore.
namespace redlock::api {

/// Whether the client has a core. A client that was moved from has none: the call is answered here,
/// with `closed`.
template <typename Done>
[[nodiscard]] bool is_open(const Core& core, Done& done) {
  if (core) return true;
  if (done) done(runtime::explain(Errc::closed, {}, {}));
  return false;
}

/// A call with a callback: see `ClientCore::call`.
template <auto Begin, typename Done, typename... Arguments>
void call(const Core& core, Done done, Arguments&&... arguments) {
  if (is_open(core, done)) {
    core->call<Begin>(std::move(done), std::forward<Arguments>(arguments)...);
  }
}

[[nodiscard]] inline RequestId acquire(const Core& core, Target&& target, AcquireOptions&& options,
                                       std::chrono::nanoseconds wait, AcquireDone done) {
  if (!is_open(core, done)) return RequestId{};
  return core->acquire(std::move(target), std::move(options), wait, std::move(done));
}

/// The lease's own client makes its calls; without a lease, `core` answers.
[[nodiscard]] inline const Core& core_for(const std::shared_ptr<LeaseCell>& cell,
                                          const Core& core) noexcept {
  return cell ? cell->shared_core() : core;
}

inline void release(const Core& core, const std::shared_ptr<LeaseCell>& cell, RoundDone done) {
  const Core& its_own = core_for(cell, core);
  if (is_open(its_own, done)) its_own->release(cell, std::move(done));
}

[[nodiscard]] inline RequestId watch(const Core& core, std::string_view resource,
                                     WatchOptions options, InspectDone changed) {
  if (!is_open(core, changed)) return RequestId{};
  return core->watch(resource, options, std::move(changed));
}

inline void cancel(const Core& core, RequestId request) {
  if (core) core->cancel(request);
}

/// `begin` starts the call with the callback for its result, and returns the id for `cancel`.
template <typename Value, typename Begin, typename Cancel>
[[nodiscard]] Awaitable<Value> to_await(Begin begin, Cancel cancel, std::stop_token stop) {
  auto call = std::make_shared<typename Awaitable<Value>::Call>();
  call->start = std::move(begin);
  call->cancel = std::move(cancel);
  call->stop.swap(stop);
  return Awaitable<Value>(std::move(call));
}

/// An awaitable call that the client can cancel.
template <typename Value, typename Begin>
[[nodiscard]] Awaitable<Value> to_await(const Core& core, Begin begin, std::stop_token stop) {
  return to_await<Value>(
      std::move(begin), [core](RequestId request) { api::cancel(core, request); }, std::move(stop));
}

/// An awaitable call that cannot be cancelled.
template <typename Value, typename Begin>
[[nodiscard]] Awaitable<Value> to_await(Begin begin) {
  auto call = std::make_shared<typename Awaitable<Value>::Call>();
  call->start = [begin = std::move(begin)](Answer<Value> done) mutable {
    begin(std::move(done));
    return RequestId{};
  };
  return Awaitable<Value>(std::move(call));
}

/// As `call`, but awaited: the call keeps copies of the arguments until then.
template <auto Begin, typename... Arguments>
[[nodiscard]] Awaitable<ValueOf<Begin>> to_await(const Core& core, Arguments&&... arguments) {
  return to_await<ValueOf<Begin>>([core, ... kept = Kept<Arguments>(std::forward<Arguments>(
                                             arguments))](Answer<ValueOf<Begin>> done) mutable {
    call<Begin>(core, std::move(done), std::move(kept)...);
  });
}

/// A watch until `stop` is requested. Its result is the number of times that `see` returned true,
/// which is how often it called the user's function.
[[nodiscard]] Awaitable<std::uint64_t> to_await_watch(const Core& core, std::string resource,
                                                      WatchOptions options,
                                                      std::function<bool(const Inspection&)> see,
                                                      std::stop_token stop);

}  // namespace redlock::api
