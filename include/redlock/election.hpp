#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "redlock/callback.hpp"
#include "redlock/client.hpp"
#include "redlock/clock.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// The options of a candidate.
struct REDLOCK_EXPORT ElectionOptions {
  /// See ClientOptions::struct_size.
  std::size_t struct_size = sizeof(ElectionOptions);

  /// The name that observers see, 1 to `limits::name_bytes` bytes: a host and process, for
  /// instance.
  std::string candidate{};
  /// The TTL of the lease: a leader that dies is replaced within this time.
  std::chrono::nanoseconds ttl = limits::default_ttl;
  /// See `WatchOptions::poll_interval`: how often `observe` asks nodes that do not notify it.
  std::chrono::nanoseconds poll_interval = std::chrono::milliseconds{250};
  /// See `AcquireOptions::on_at_risk`: leadership is about to be lost. Called on the client's loop
  /// thread; it must not block.
  std::function<void(std::chrono::nanoseconds)> on_at_risk{};
  /// See `AcquireOptions::on_lost`: another candidate can be the leader from now on. Not called if
  /// `resign` was in time. Called on the client's loop thread; it must not block.
  SharedCallback<void(const Error&)> on_lost{};
};

/// Being the leader: a lease that is renewed in the background. Destroying the object releases the
/// lease. Thread safety: as Lease.
class [[nodiscard]] REDLOCK_EXPORT Leadership {
 public:
  /// Only the library makes leaderships.
  explicit Leadership(Lease lease) noexcept;

  /// The term: larger than that of every leader elected before. Send it along with every write (see
  /// `Lease::fencing_token`). Zero without a lease.
  [[nodiscard]] FencingToken term() const noexcept;

  /// Whether the holder of this object is still the leader. Compares the clock with the deadline at
  /// every call.
  [[nodiscard]] bool valid() const noexcept { return lease_.valid(); }

  /// Signalled when leadership is lost, and when the client is closed; not if `resign` was in time:
  /// see `Lease::lost`.
  [[nodiscard]] std::stop_token lost() const { return lease_.lost(); }

  /// Why leadership was lost: see `Lease::loss`.
  [[nodiscard]] std::optional<Error> loss() const { return lease_.loss(); }

  /// Gives up leadership and waits until another candidate can be elected. Errors: as
  /// `Lease::release`.
  Result<Round> resign() { return lease_.release(); }

  /// The lease of the leadership.
  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }

 private:
  Lease lease_;
};

/// The leader as an observer sees it: a snapshot.
struct REDLOCK_EXPORT Leader {
  std::string candidate{};  ///< empty if the leader gave no name
  Token token{};
  friend bool operator==(const Leader&, const Leader&) = default;
};

/// A leader among many candidates: an exclusive lock on the election's name, with a fencing token
/// as the term. It takes a name, not a Target: other targets have no term.
///
/// Thread safety: all members may be called from any thread. Copies are the same candidate. It does
/// not need the Client object, which may be moved; when the client is closed or destroyed, calls
/// end with `closed`.
class REDLOCK_EXPORT Election {
 public:
  /// Sends nothing. An unusable name or option is refused by the calls.
  Election(Client& client, std::string name, ElectionOptions options = {});
  Election(const Election&) noexcept;
  Election& operator=(const Election&) noexcept;
  ~Election();

  /// Blocks until elected and waits out outages. `stop` ends the wait (`cancelled`). Errors: as
  /// `Client::acquire`.
  [[nodiscard]] Result<Leadership> campaign(const std::stop_token& stop = {});

  /// Asks once and does not wait. Errors: as `Client::try_acquire`; the message of `held` names the
  /// leader.
  [[nodiscard]] Result<Leadership> try_campaign();

  /// Waits for at most `wait`. Errors: as `Client::try_acquire_for`.
  template <typename Rep, typename Period>
  [[nodiscard]] Result<Leadership> try_campaign_for(const std::chrono::duration<Rep, Period>& wait,
                                                    const std::stop_token& stop = {}) {
    return campaign_within(wait_detail::saturated(wait), stop);
  }

  /// Waits until `deadline` of any clock at the latest. Errors: as `Client::try_acquire_until`.
  template <typename Clock, typename Duration>
  [[nodiscard]] Result<Leadership> try_campaign_until(
      const std::chrono::time_point<Clock, Duration>& deadline, const std::stop_token& stop = {}) {
    return campaign_within(wait_detail::time_left(deadline), stop);
  }

  /// The leader now, or none. Errors: unavailable (too few nodes answered), closed, forked,
  /// would_block, invalid_argument.
  [[nodiscard]] Result<std::optional<Leader>> leader();

  /// Calls `changed` on the calling thread with the leader, first at once and then after every
  /// change, until `stop` is requested; returns the number of calls. While too few nodes answer, it
  /// reports no change. An exception that `changed` throws ends the observation and leaves the
  /// call. Errors: closed, forked, would_block, invalid_argument (also an empty `changed`); never
  /// cancelled.
  [[nodiscard]] Result<std::uint64_t> observe(
      const std::function<void(const std::optional<Leader>&)>& changed,
      const std::stop_token& stop);

 private:
  [[nodiscard]] Result<Leadership> campaign_within(std::chrono::nanoseconds wait,
                                                   const std::stop_token& stop);
  struct REDLOCK_HIDDEN State;
  std::shared_ptr<const State> state_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
