#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "api/client/answer.hpp"
#include "api/client/completions.hpp"
#include "api/client/watching.hpp"
#include "api/leases/lease_cell.hpp"
#include "core/containers/pool.hpp"
#include "core/containers/pool_index.hpp"
#include "core/vocabulary/messages.hpp"
#include "support/overwrite.hpp"

namespace redlock::api {

/// How a call is answered. A watch answers more than once.
using AnyDone = std::variant<std::monostate, AcquireDone, RoundDone, InspectDone, OwnershipDone,
                             std::shared_ptr<Watching>>;

/// The calls that have not answered. For the loop's thread only.
class PendingCalls {
 public:
  struct Call {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;
    bool live = false;
    bool waits = false;  ///< for a lock that another client holds
    core::PoolIndexHook<> by_request;
    std::string resource;
    AnyDone done;
    LeaseCallbacks callbacks;

    [[nodiscard]] core::CallId id() const noexcept {
      return core::CallId{(std::uint64_t{generation} << 32U) | index};
    }
  };

  template <typename Done>
  Call& add(std::string_view resource, Done done) {
    Call& call = calls_.take();
    support::overwrite(call.resource, resource);
    call.waits = false;
    call.done = std::move(done);
    return call;
  }
  /// The call can be found, to be cancelled, by the id that its caller has.
  void name(Call& call, RequestId request) {
    by_request_.add(call, static_cast<std::uint64_t>(request));
  }

  /// Null: it has answered.
  [[nodiscard]] Call* find(core::CallId id) noexcept {
    const auto number = static_cast<std::uint64_t>(id);
    return calls_.find(static_cast<std::uint32_t>(number),
                       static_cast<std::uint32_t>(number >> 32U));
  }
  [[nodiscard]] std::optional<core::CallId> find(RequestId request) {
    std::optional<core::CallId> found;
    by_request_.each(static_cast<std::uint64_t>(request),
                     [&](const Call& call) { found = call.id(); });
    return found;
  }

  /// The call is over. Callbacks that no lease has taken are spent.
  void remove(Call& call, Completions& completions) {
    if (!call.callbacks.none()) completions.spend(std::exchange(call.callbacks, {}));
    by_request_.remove(call);
    calls_.give_back(call);
  }

  /// `visit` may remove the call.
  template <typename Visit>
  void each(Visit&& visit) {
    calls_.each(std::forward<Visit>(visit));
  }

 private:
  core::Pool<Call> calls_;
  core::PoolIndex<Call, &Call::by_request> by_request_{calls_};
};

}  // namespace redlock::api
