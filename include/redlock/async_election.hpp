#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "redlock/async_client.hpp"
#include "redlock/callback.hpp"
#include "redlock/clock.hpp"
#include "redlock/coroutine.hpp"
#include "redlock/election.hpp"
#include "redlock/export.hpp"
#include "redlock/result.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

extern template class Awaitable<Leadership>;
extern template class Awaitable<std::optional<Leader>>;

/// Election with the asynchronous client: the same candidates, leaders and terms.
///
/// Callbacks, answers and threads are those of AsyncClient. Calls go on when this object is
/// destroyed, and end with `closed` when the client is destroyed. A leader resigns with `resign`,
/// or by destroying the Leadership; neither blocks. `Leadership::resign` would wait for itself on
/// the loop thread (`would_block`).
///
/// Thread safety: as AsyncClient. Copies are the same candidate.
class REDLOCK_EXPORT AsyncElection {
 public:
  AsyncElection(AsyncClient& client, std::string name, ElectionOptions options = {});
  AsyncElection(const AsyncElection&) noexcept;
  AsyncElection& operator=(const AsyncElection&) noexcept;
  ~AsyncElection();

  /// Answers when elected, and waits out outages. `cancel` ends it. Errors: excluded (no
  /// waiting helps: see Errc), cancelled, closed, forked, invalid_argument, limit_reached.
  RequestId campaign(Callback<void(Result<Leadership>)> done);

  /// Asks once and does not wait. Errors: as `AsyncClient::try_acquire`; the message of `held`
  /// names the leader.
  RequestId try_campaign(Callback<void(Result<Leadership>)> done);

  /// Waits for at most `wait`. Errors: as `AsyncClient::try_acquire_for`.
  template <typename Rep, typename Period>
  RequestId try_campaign_for(const std::chrono::duration<Rep, Period>& wait,
                             Callback<void(Result<Leadership>)> done) {
    return campaign_within(wait_detail::saturated(wait), std::move(done));
  }

  /// Waits until `deadline` of any clock at the latest. Errors: as `try_campaign_for`.
  template <typename Clock, typename Duration>
  RequestId try_campaign_until(const std::chrono::time_point<Clock, Duration>& deadline,
                               Callback<void(Result<Leadership>)> done) {
    return campaign_within(wait_detail::time_left(deadline), std::move(done));
  }

  /// Gives up leadership, and answers when another candidate can be elected. Errors: as
  /// `AsyncClient::release`.
  void resign(Leadership leadership, Callback<void(Result<Round>)> done);

  /// The leader now, or none. Errors: unavailable (too few nodes answered), closed, forked,
  /// invalid_argument.
  void leader(Callback<void(Result<std::optional<Leader>>)> done);

  /// Answers more than once: with the leader, first at once and then after every change, until
  /// `cancel` or the end of the client, and with the error at the end. While too few nodes answer,
  /// it reports no change. Errors: cancelled, closed, forked, invalid_argument.
  RequestId observe(Callback<void(Result<std::optional<Leader>>)> changed);

  /// These calls can also be awaited: `co_await election.campaign(stop)`. See Awaitable. Errors: as
  /// the functions of the same name; after a stop request, `cancelled`.
  [[nodiscard]] Awaitable<Leadership> campaign(std::stop_token stop = {});
  [[nodiscard]] Awaitable<Leadership> try_campaign();
  template <typename Rep, typename Period>
  [[nodiscard]] Awaitable<Leadership> try_campaign_for(
      const std::chrono::duration<Rep, Period>& wait, std::stop_token stop = {}) {
    return campaign_within([saturated = wait_detail::saturated(wait)] { return saturated; },
                           std::move(stop));
  }
  template <typename Clock, typename Duration>
  [[nodiscard]] Awaitable<Leadership> try_campaign_until(
      const std::chrono::time_point<Clock, Duration>& deadline, std::stop_token stop = {}) {
    return campaign_within([deadline] { return wait_detail::time_left(deadline); },
                           std::move(stop));
  }
  [[nodiscard]] Awaitable<Round> resign(Leadership leadership);
  [[nodiscard]] Awaitable<std::optional<Leader>> leader();

  /// See `Election::observe`: calls `changed` on the loop thread until `stop` is requested, and
  /// then answers with the number of calls. An exception that `changed` throws ends the program, as
  /// in every Callback. Errors: closed, forked, invalid_argument (also an empty `changed`); never
  /// cancelled.
  [[nodiscard]] Awaitable<std::uint64_t> observe(
      std::function<void(const std::optional<Leader>&)> changed, std::stop_token stop);
#if defined(REDLOCK_REFUSED)
  template <OwningTemporary<std::function<void(const std::optional<Leader>&)>> Temporary>
  REDLOCK_REFUSED Awaitable<std::uint64_t> observe(Temporary&& changed, std::stop_token stop);
#endif

  /// Ends a campaign that has not answered, or an observation. Cancelling too late is harmless.
  void cancel(RequestId request);

 private:
  RequestId campaign_within(std::chrono::nanoseconds wait, Callback<void(Result<Leadership>)> done);
  /// `wait` is called when the call begins, which is when the call is awaited.
  [[nodiscard]] Awaitable<Leadership> campaign_within(
      std::function<std::chrono::nanoseconds()> wait, std::stop_token stop);
  struct REDLOCK_HIDDEN State;
  std::shared_ptr<const State> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
