#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "api/client/client_core.hpp"
#include "api/client/waiter.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

/// The calls of all blocking classes. They take the core, because a Client object may be moved. As
/// those of the asynchronous ones (api/client/async_calls.hpp), they are shells over the calls of
/// ClientCore.
namespace redlock::api {

/// Why a blocking call cannot be made. A client that was moved from has no core.
[[nodiscard]] std::optional<Error> refuse(const Core& core);

/// Makes a call and waits for its answer: see `ClientCore::call`.
template <auto Begin, typename... Arguments>
// The copy keeps the client alive while the call blocks.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
[[nodiscard]] Result<ValueOf<Begin>> block(Core core, Arguments&&... arguments) {
  if (auto why = refuse(core)) return *std::move(why);
  return wait_for<ValueOf<Begin>>(*core, [&](Answer<ValueOf<Begin>> done) {
    core->call<Begin>(std::move(done), std::forward<Arguments>(arguments)...);
  });
}

/// `forever` waits until granted, zero or less asks once.
[[nodiscard]] Result<Lease> acquire(Core core, Target&& target, AcquireOptions&& options,
                                    std::chrono::nanoseconds wait, const std::stop_token& stop);

/// See `Client::watch`.
[[nodiscard]] Result<std::uint64_t> watch(const Core& core, std::string_view resource,
                                          const std::function<void(const Inspection&)>& changed,
                                          const std::stop_token& stop, WatchOptions options);

}  // namespace redlock::api
