#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "api/client/client_core.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"

/// The calls of all blocking classes. They take the core, because a Client object may be moved.
namespace redlock::api {

/// Why a blocking call cannot be made. A client that was moved from has no core.
[[nodiscard]] std::optional<Error> refuse(const std::shared_ptr<ClientCore>& core,
                                          std::string_view resource);

/// `forever` waits until granted, zero or less asks once.
[[nodiscard]] Result<Lease> acquire(const std::shared_ptr<ClientCore>& core, Target&& target,
                                    AcquireOptions&& options, std::chrono::nanoseconds wait,
                                    const std::stop_token& stop);

[[nodiscard]] Result<Inspection> inspect(const std::shared_ptr<ClientCore>& core,
                                         std::string_view resource);

/// See `Client::watch`.
[[nodiscard]] Result<std::uint64_t> watch(const std::shared_ptr<ClientCore>& core,
                                          std::string_view resource,
                                          const std::function<void(const Inspection&)>& changed,
                                          const std::stop_token& stop, WatchOptions options);

}  // namespace redlock::api
