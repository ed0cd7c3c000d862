#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "redlock/clock.hpp"
#include "redlock/detached_lease.hpp"
#include "redlock/export.hpp"
#include "redlock/report.hpp"
#include "redlock/result.hpp"
#include "redlock/token.hpp"

namespace redlock::api {
class LeaseCell;
}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {

/// A granted lock. Move-only: the owner of the object owns the lock.
///
/// A lease is a promise about time: until `valid_until()` no other client holds a lease that this
/// one excludes. Work that outlives the deadline is no longer protected. Ask `valid()` before each
/// irreversible step and watch `lost()` in between.
///
/// The destructor sends the release and does not wait for the answers. It never blocks. The other
/// calls block for one round at most: see Client. No function throws. Thread safety: const members
/// may be called from any number of threads at once, the others only while no other thread uses the
/// object. `valid()` and `valid_until()` follow renewals in the background.
class [[nodiscard]] REDLOCK_EXPORT Lease {
 public:
  /// No lease: `valid()` is false, everything else is empty.
  Lease() noexcept;
  Lease(Lease&&) noexcept;
  Lease& operator=(Lease&&) noexcept;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  /// The resource; for `all_of`, the first one; for a `permit`, the permit's name: "jobs#3".
  [[nodiscard]] const std::string& resource() const noexcept;
  /// All resources of an `all_of` target, the first one first.
  [[nodiscard]] std::vector<std::string> resources() const;
  /// The value that the nodes store under the resource.
  [[nodiscard]] const Token& token() const noexcept;

  /// The number to send along with every write that the lock protects: see FencingToken. Larger
  /// than that of every lease on the resource granted before, and the same for the whole life of
  /// the lease. None unless `AcquireOptions::fencing` is set.
  [[nodiscard]] std::optional<FencingToken> fencing_token() const noexcept;

  /// The deadline: (instant before the first byte of the granting round was sent) + TTL − drift.
  [[nodiscard]] BootClock::time_point valid_until() const noexcept;

  /// The time until the deadline. Zero if it has passed or the lease ended.
  [[nodiscard]] std::chrono::nanoseconds remaining() const noexcept;

  /// Compares the clock with the deadline at every call. False after release and loss, and in a
  /// forked child, whose parent has the lease.
  [[nodiscard]] bool valid() const noexcept;

  /// Signalled when the lease ends without its holder's doing: when the deadline passes without a
  /// renewal, or when the client is closed or destroyed. A release in time does not signal it. A
  /// lease that is released, detached or destroyed after its deadline was lost. Signalled on the
  /// client's loop thread; if an open client on a caller's loop is destroyed, on the thread that
  /// destroys it.
  [[nodiscard]] std::stop_token lost() const;

  /// Why the lease was lost: what `AcquireOptions::on_lost` gets, and as soon. None: it was not
  /// lost, or the client was closed. After `release` and `reset`, the object has no lease, and no
  /// loss.
  [[nodiscard]] std::optional<Error> loss() const;

  /// The granting round, node by node.
  [[nodiscard]] Round round() const;

  /// Extends the lease to `ttl` from now on and blocks until a quorum of the nodes that still had
  /// the key has answered. It never shortens a lease. After a failure, the lease stays valid until
  /// its old deadline. It counts as a renewal, so `AcquireOptions::max_hold` and `max_renewals`
  /// bind it. Errors: not_holder, unavailable, limit_reached (by those limits), closed, forked,
  /// would_block, invalid_argument.
  [[nodiscard]] Result<Round> extend(std::chrono::nanoseconds ttl) const;

  /// Turns a writer's lease (a target that is a resource's name) into a reader's (`shared`) without
  /// a gap: no other writer can get the lock in between. Waiting readers get in at once, and the
  /// deadline and the fencing token stay. Blocks until a quorum has changed it. From the call on,
  /// the lease is a reader's, whatever the answer: after `unavailable`, fewer nodes than a quorum
  /// may let readers in, and the next renewal or another call changes the rest. A reader's lease
  /// stays a reader's. There is no way back: two readers that both want to write would wait for
  /// each other for ever. Errors: not_holder, unavailable, closed, forked, would_block,
  /// invalid_argument (a lease of several resources, of an owner, of a permit or with an interval
  /// has no readers).
  Result<Round> downgrade() const;

  /// Deletes the key on all nodes that still have this lease's token, and blocks until a majority
  /// no longer has it. The lease ends in any case. Errors: not_holder (it had expired), unavailable
  /// (the client retries in the background until the TTL has passed), closed, forked, would_block.
  Result<Round> release();

  /// Releases the lock as the destructor does, without waiting for an answer, and leaves the object
  /// empty.
  void reset() noexcept;

  /// Ends renewal and ownership, and leaves the key on the nodes until its TTL has passed, so that
  /// the lock can be handed to another owner, in any process. `Client::adopt` makes a lease of the
  /// result; `Client::extend` and `release` take its token. If the result is not empty, this client
  /// does not release the key from this call on, whatever requests it has under way. The result is
  /// empty if there is no lease, and in a forked child. It is also empty if the lease is lost or
  /// past its deadline; the client then releases the key.
  [[nodiscard]] DetachedLease detach();

 private:
  friend class api::LeaseCell;
  REDLOCK_HIDDEN explicit Lease(std::shared_ptr<api::LeaseCell> cell) noexcept;
  std::shared_ptr<api::LeaseCell> cell_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
