#pragma once

#include "redlock/language.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <utility>

#include "redlock/clock.hpp"
#include "redlock/export.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/metrics.hpp"
#include "redlock/options.hpp"
#include "redlock/result.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock::api {
class ClientCore;
struct CoreOf;
}  // namespace redlock::api

namespace redlock {
inline namespace REDLOCK_ABI {

/// The blocking interface, a facade of the asynchronous one, with the same core and the same
/// connections. No function throws.
///
/// A call that does not wait for a lock (`try_acquire`, `inspect`, those of a Lease such as
/// `extend` and `release`, and those by a token) blocks for at most `node.connect_timeout`, where
/// the client has not yet met a node, and `node.longest_timeout` for the answers: together 2 s by
/// default, however many nodes are silent. If the attempt of `try_acquire` loses too many
/// connections, it asks once more on new ones, which takes as long again at most. A call that has
/// waited asks who holds the resource before it fails, which takes one round more; with
/// `name_holders`, so does a call that does not wait.
///
/// Thread safety: all members may be called from any number of threads at once. The callbacks of
/// the options run on the client's loop thread, a thread of its own. On that thread every blocking
/// call is refused with `would_block`. After `fork()` the child's copy refuses every call with
/// `forked`, and the parent's is not disturbed. A client that was moved from refuses every call
/// with `closed`.
class REDLOCK_EXPORT Client {
 public:
  /// Connects in the background. The first call waits for as many nodes as it needs. Nothing is
  /// sent if an option is refused. Errors: invalid_argument, limit_reached (no file descriptor is
  /// free).
  [[nodiscard]] static Result<Client> create(ClientOptions options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Closes, see `close`.
  ~Client();

  /// Ends every blocked call with `closed`, releases every lease, whose `lost()` is signalled,
  /// waits until every release has been answered, at most one node time limit, and closes the
  /// connections. To deliver releases it reconnects to nodes that went away in the meantime. The
  /// report names the nodes where releases could not be delivered: keys stay there until they
  /// expire. Errors: closed (moved from), forked, would_block.
  Result<CloseReport> close();

  /// Waits until the lock is granted, through outages, too. `stop` ends the wait (`cancelled`).
  /// Errors: excluded (no waiting helps: see Errc), cancelled, closed, forked, would_block,
  /// invalid_argument, limit_reached.
  [[nodiscard]] Result<Lease> acquire(Target target, AcquireOptions options = {},
                                      const std::stop_token& stop = {});

  /// Asks once and does not wait. Errors: held, split, unavailable, expired, excluded, closed,
  /// forked, would_block, invalid_argument, limit_reached.
  [[nodiscard]] Result<Lease> try_acquire(Target target, AcquireOptions options = {});

  /// Waits for at most `wait`. Zero or less is one attempt, `forever` waits as `acquire` does.
  /// Errors: as `try_acquire`, and cancelled.
  template <typename Rep, typename Period>
  [[nodiscard]] Result<Lease> try_acquire_for(Target target,
                                              const std::chrono::duration<Rep, Period>& wait,
                                              AcquireOptions options = {},
                                              const std::stop_token& stop = {}) {
    const std::chrono::nanoseconds longest = wait_detail::saturated(wait);
    return acquire_within(std::move(target), longest, std::move(options), stop);
  }

  /// Waits until `deadline` of any clock at the latest. A deadline that has passed is one attempt,
  /// the end of the clock's time is `forever`. Errors: as `try_acquire_for`.
  template <typename Clock, typename Duration>
  [[nodiscard]] Result<Lease> try_acquire_until(
      Target target, const std::chrono::time_point<Clock, Duration>& deadline,
      AcquireOptions options = {}, const std::stop_token& stop = {}) {
    const std::chrono::nanoseconds longest = wait_detail::time_left(deadline);
    return acquire_within(std::move(target), longest, std::move(options), stop);
  }

  /// Makes a lease of a lock whose lease was detached, in this process or another. The call extends
  /// the lock to `options.ttl` from now on, and blocks until a quorum that still had the key has
  /// answered. The lease then belongs to this client. It keeps its fencing token, unless another
  /// client has asked for a larger one since: then it gets one above that. A writer's lock that is
  /// adopted as `shared` becomes a reader's. The options are those of `acquire`, without `name` and
  /// `orphan_ttl`, which are refused. Errors: not_holder (the lock had expired or was released, or
  /// it is a reader's or an owner's and `detached` says exclusive), unavailable, expired, excluded
  /// (no larger fencing token is left), closed, forked, would_block, invalid_argument,
  /// limit_reached.
  [[nodiscard]] Result<Lease> adopt(DetachedLease detached, AcquireOptions options = {});

  /// Extends the lock of a token that was detached or came from another process: a lock of any kind
  /// on the target's resource, or the lock on all resources of `all_of`, all or none. A permit is
  /// named by `Lease::resource()`; a `permit` target is refused. For locks that nobody renews: a
  /// lease of that token that is still held does not notice, and stays valid until its deadline.
  /// Nodes that lost the key get it back only after a quorum has shown that it has the key. Errors:
  /// not_holder, unavailable, expired (a quorum extended it, too late to be of use), closed,
  /// forked, would_block, invalid_argument.
  [[nodiscard]] Result<Round> extend(Target target, const Token& token,
                                     std::chrono::nanoseconds ttl);

  /// Turns a writer's lock on one resource into a reader's, by a token that was detached or came
  /// from another process: see `Lease::downgrade`. Errors: as `Lease::downgrade`.
  [[nodiscard]] Result<Round> downgrade(std::string_view resource, const Token& token);

  /// Releases by a token that was detached or came from another process; the target as in `extend`.
  /// For `all_of`, it releases those resources that the token still holds. Ends an `interval`, too.
  /// Errors: as `Lease::release`, and invalid_argument.
  [[nodiscard]] Result<Round> release(Target target, const Token& token);

  /// Releases somebody else's lock, for operators: every node that deletes the token remembers for
  /// a day which token, when, and by whom (`ClientOptions::name`). `inspect` shows it.
  ///
  /// With a `BreakOptions::delay`, each of these nodes keeps everybody out for that time, clients
  /// of other libraries too, and the holder cannot take it back. Success means that a quorum of
  /// nodes does so. Others who share the lock keep their holds; nobody joins them during the delay,
  /// which goes on after their last release. A node on which the token was already gone gets no
  /// delay. No break shortens a delay. To end one early, break the token that `inspect` shows then
  /// (`Token::is_delay`), without a delay.
  ///
  /// Errors: as `release`.
  [[nodiscard]] Result<Round> break_lock(std::string_view resource, const Token& token,
                                         BreakOptions options = {});

  /// Asks every node what it stores for the resource. Errors: closed, forked, would_block,
  /// invalid_argument.
  [[nodiscard]] Result<Inspection> inspect(std::string_view resource);

  /// Whether this token holds the resource now: `client.ownership(…) == Ownership::held`. Errors:
  /// as `inspect`, and unavailable if too few nodes answer to decide it.
  [[nodiscard]] Result<Ownership> ownership(std::string_view resource, const Token& token);

  /// Watches a resource: calls `changed` on the calling thread, first at once and then after every
  /// change of its state, kind or holder, until `stop` is requested; returns the number of calls.
  /// Nodes notify the client (client tracking, from Redis 7 and with the restart guard): the call
  /// sees a change within a few round trips, or within 160 ms while changes follow each other
  /// closely. If too few nodes notify it, it asks them at every `poll_interval`. Changes that are
  /// faster than that, or than `changed` itself, are reported as one. While nobody can have a
  /// quorum, or too few nodes answer, it reports no change. An exception that `changed` throws ends
  /// the watch and leaves the call. Errors: closed, forked, would_block, invalid_argument (also an
  /// empty `changed`); never cancelled.
  [[nodiscard]] Result<std::uint64_t> watch(std::string_view resource,
                                            const std::function<void(const Inspection&)>& changed,
                                            const std::stop_token& stop, WatchOptions options = {});

  /// The counts of this client since it was created, and its state now: see Metrics and
  /// `to_prometheus`. The snapshot is taken on the loop thread. Errors: closed, forked,
  /// would_block.
  [[nodiscard]] Result<Metrics> metrics() const;

 private:
  friend struct api::CoreOf;
  [[nodiscard]] Result<Lease> acquire_within(Target target, std::chrono::nanoseconds wait,
                                             AcquireOptions options, const std::stop_token& stop);
  REDLOCK_HIDDEN explicit Client(std::shared_ptr<api::ClientCore> core) noexcept;
  std::shared_ptr<api::ClientCore> core_;
};

}  // namespace REDLOCK_ABI
}  // namespace redlock
