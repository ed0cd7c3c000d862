#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/export.hpp"
#include "redlock/report.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"

namespace redlock {

namespace api {
class LeaseCell;
}  // namespace api

/// A granted lock. Move-only; whoever owns the object owns the lock.
///
/// A lease is a promise about time: until `valid_until()` no other client holds a lease on the
/// resource. Work that outlives the deadline is no longer protected, so ask `valid()` before each
/// irreversible step and watch `lost()` in between.
///
/// The destructor sends the release and does not wait for the answers; it never blocks or throws.
/// Thread safety: const members may be called from any thread at once; `valid()` and
/// `valid_until()` follow renewals that happen in the background.
class [[nodiscard]] REDLOCK_EXPORT Lease {
 public:
  /// No lease: `valid()` is false, everything else is empty.
  Lease() noexcept;
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// For a `permit` target, the name of the permit: "jobs#3".
  [[nodiscard]] const std::string& resource() const noexcept;
  /// All resources of an `all_of` target, the first one first.
  [[nodiscard]] std::vector<std::string> resources() const;
  [[nodiscard]] const Token& token() const noexcept;

  /// The number to send along with every write that the lock protects, so that the storage can
  /// refuse a holder whose lease is over: strictly larger than that of every lease on the resource
  /// granted before, below 2^53, the same for the whole life of the lease. None unless
  /// `AcquireOptions::fencing` asked for it. (Kleppmann, How to do distributed locking, 2016.)
  [[nodiscard]] std::optional<std::uint64_t> fencing_token() const noexcept;

  /// The deadline: (instant before the first byte of the granting round was sent) + TTL − drift.
  [[nodiscard]] BootClock::time_point valid_until() const noexcept;

  /// What is left until the deadline; zero when it has passed or the lease ended.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// Compares the clock with the deadline at every call; false after release and loss.
  [[nodiscard]] bool valid() const noexcept;
  [[nodiscard]] explicit operator bool() const noexcept { return valid(); }

  /// Signalled when the deadline passes without renewal; not by a release.
  [[nodiscard]] std::stop_token lost() const;

  /// How the granting round went, node by node.
  [[nodiscard]] RoundReport report() const;

  /// Asks for `ttl` from now on, blocking until a quorum of the nodes that still had the key has
  /// answered. It never shortens a lease. A failure takes nothing away: the lease stands until its
  /// old deadline. The limits of `AcquireOptions::renewal` bind it too: it counts as a renewal, and
  /// asks for no more than `max_hold` leaves. Errors: not_holder, unavailable, limit_reached (by
  /// those limits), closed, forked, would_block, invalid_argument.
  [[nodiscard]] Result<RoundReport> extend(std::chrono::nanoseconds ttl);

  /// Deletes the key on all nodes where it is still ours, blocking until no majority is taken by it
  /// any more. The lease is over whatever the answer. Errors: not_holder (it had expired),
  /// unavailable (sent, and retried in the background, until the TTL has passed), closed, forked,
  /// would_block.
  Result<RoundReport> release();

  /// Ends renewal and ownership and leaves the key on the nodes until its TTL has passed or
  /// somebody releases the token: for handing a lock to another process. An interval
  /// (`interval`) does not outlive such a release.
  [[nodiscard]] Token detach() noexcept;

 private:
  friend class api::LeaseCell;
  explicit Lease(std::shared_ptr<api::LeaseCell> cell) noexcept;
  std::shared_ptr<api::LeaseCell> cell_;
};

}  // namespace redlock
