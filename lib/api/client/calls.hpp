#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "api/client/answer.hpp"
#include "api/client/client_state.hpp"
#include "redlock/detached_lease.hpp"
#include "redlock/options.hpp"
#include "redlock/target.hpp"

namespace redlock::api {

/// Begins the calls of a client: checks the arguments, notes whom to answer, and steps the driver
/// with an event. For the loop's thread only: `ClientCore::call` brings them
/// there. A call that is refused is answered at the end of the turn.
class Calls {
 public:
  explicit Calls(ClientState& state) noexcept : state_(state) {}

  void acquire(AcquireDone done, RequestId request, const Target& target, AcquireOptions&& options,
               std::chrono::nanoseconds wait);
  void adopt(AcquireDone done, const DetachedLease& detached, AcquireOptions&& options);
  void extend(RoundDone done, const std::shared_ptr<LeaseCell>& cell, std::chrono::nanoseconds ttl);
  void downgrade(RoundDone done, const std::shared_ptr<LeaseCell>& cell);
  /// Without `done`, the outcome is dropped.
  void release(RoundDone done, const std::shared_ptr<LeaseCell>& cell);
  void detach(const std::shared_ptr<LeaseCell>& cell);
  void watch_others(const std::shared_ptr<LeaseCell>& cell);
  void extend_by_token(RoundDone done, const Target& target, const Token& token,
                       std::chrono::nanoseconds ttl);
  void downgrade_by_token(RoundDone done, std::string_view resource, const Token& token);
  void release_by_token(RoundDone done, const Target& target, const Token& token);
  void break_lock_by_token(RoundDone done, std::string_view resource, const Token& token,
                           BreakOptions options);
  void inspect(InspectDone done, std::string_view resource);
  void ownership(OwnershipDone done, std::string_view resource, const Token& token);
  void watch(InspectDone changed, RequestId request, std::string_view resource,
             WatchOptions options);
  void cancel(RequestId request);
  void metrics(MetricsDone done);

 private:
  /// The holder has ended the lease.
  void forget(const LeaseCell& cell, HoldObservation::End why) noexcept;
  /// With `by_operator`, an operator breaks the lock on these terms, and the nodes remember it.
  void end_by_token(RoundDone done, const Target& target, const Token& token,
                    const std::optional<BreakOptions>& by_operator);
  template <typename Value>
  void ask(Answer<Value> done, std::string_view resource, const Token& token,
           std::optional<std::string> why);
  /// Whether the call is answered here: with `why`, or because the client is closed.
  template <typename Value>
  [[nodiscard]] bool refused(const std::optional<std::string>& why, Answer<Value>& done);
  template <typename Value>
  void complete(Answer<Value> done, Result<Value> value);

  ClientState& state_;
};

/// The type of a call's answer.
template <typename Value, typename... Arguments>
std::type_identity<Value> answer_of(void (Calls::*)(Answer<Value>, Arguments...));
template <auto Begin>
using ValueOf = typename decltype(answer_of(Begin))::type;

}  // namespace redlock::api
