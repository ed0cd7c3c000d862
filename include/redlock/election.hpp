#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "redlock/client.hpp"
#include "redlock/export.hpp"
#include "redlock/lease.hpp"
#include "redlock/result.hpp"

namespace redlock {

struct ElectionOptions {
  /// What observers see, 1 to `limits::name_bytes` bytes: a host and process, for instance.
  std::string candidate{};
  /// A leader that dies is replaced within this time.
  std::chrono::nanoseconds ttl = limits::default_ttl;
  /// How often an observer looks.
  std::chrono::nanoseconds look = std::chrono::milliseconds{250};
  /// See `AcquireOptions::on_at_risk`: leadership is about to be lost.
  std::function<void(std::chrono::nanoseconds)> on_at_risk{};
};

/// Being the leader: a lease that is renewed in the background. Ends when it is destroyed.
/// Thread safety: as Lease.
class [[nodiscard]] REDLOCK_EXPORT Leadership {
 public:
  explicit Leadership(Lease lease) noexcept;

  /// The term: larger than that of every leader elected before; send it along with every write (see
  /// `Lease::fencing_token`).
  [[nodiscard]] std::uint64_t term() const noexcept;

  /// Compares the clock with the deadline at every call.
  [[nodiscard]] bool valid() const noexcept { return lease_.valid(); }
  [[nodiscard]] explicit operator bool() const noexcept { return valid(); }

  /// Signalled at the deadline when leadership is lost; not by `resign`.
  [[nodiscard]] std::stop_token lost() const { return lease_.lost(); }

  /// Gives it up; waits until somebody else can be elected. Errors as `Lease::release`.
  Result<RoundReport> resign() { return lease_.release(); }

  [[nodiscard]] const Lease& lease() const noexcept { return lease_; }

 private:
  Lease lease_;
};

/// Who leads, as an observer sees it: a moment later it may be somebody else.
struct Leader {
  std::string candidate{};  ///< empty where it gave no name
  Token token{};
  friend bool operator==(const Leader&, const Leader&) = default;
};

/// A leader among many candidates: an exclusive lock on the election's name, with a fencing token
/// as the term. Thread safety: all members may be called from any thread. The client must outlive
/// it.
class REDLOCK_EXPORT Election {
 public:
  Election(Client& client, std::string name, ElectionOptions options = {});

  /// Blocks until elected and waits out outages. `stop` ends the wait (`cancelled`). Errors:
  /// cancelled, closed, forked, would_block, invalid_argument, limit_reached.
  [[nodiscard]] Result<Leadership> campaign(const std::stop_token& stop = {});

  /// Asks once and does not wait. Errors: as `Client::try_acquire`; the message of held names the
  /// leader.
  [[nodiscard]] Result<Leadership> try_campaign();

  /// Waits for at most `wait`. Errors: as `Client::try_acquire_for`.
  [[nodiscard]] Result<Leadership> try_campaign_for(std::chrono::nanoseconds wait,
                                                    const std::stop_token& stop = {});

  /// Waits until `deadline` at the latest. Errors: as `Client::try_acquire_until`.
  [[nodiscard]] Result<Leadership> try_campaign_until(BootClock::time_point deadline,
                                                      const std::stop_token& stop = {});

  /// Who leads now; none where nobody does. Errors: unavailable (too few nodes tell), closed,
  /// forked, would_block, invalid_argument.
  [[nodiscard]] Result<std::optional<Leader>> leader();

  /// Calls `changed` in this thread with who leads, first at once and then after every change,
  /// until `stop`. While too few nodes tell, nothing is known to have changed. Errors: closed,
  /// forked, would_block, invalid_argument (also an empty `changed`); never `cancelled`: then it
  /// answers how often it called.
  [[nodiscard]] Result<std::uint64_t> observe(
      const std::function<void(const std::optional<Leader>&)>& changed,
      const std::stop_token& stop);

 private:
  [[nodiscard]] AcquireOptions terms() const;

  Client& client_;
  std::string name_;
  ElectionOptions options_;
};

}  // namespace redlock
