#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/checker/checker_failover.hpp"
#include "chaos/checker/checker_history.hpp"
#include "chaos/checker/checker_waiting.hpp"

namespace redlock::chaos {

/// One broken promise.
struct Violation {
  /// One of these:
  /// - overlap: two leases that may not share a resource were valid at one instant
  /// - not-kept-out: a resource was granted during the delay after its lock was broken
  /// - no-permit: more permits were held than the semaphore has
  /// - too-soon: a resource was granted twice within its interval
  /// - token-order: a later lease had no larger fencing token
  /// - used-after-end: the library called a lease valid after its deadline or its reported loss
  /// - too-long: a deadline was later than the TTL allows
  /// - overtaken: the counter refused the holder of a valid lease
  /// - lost-update: the counter holds less than was written
  /// - no-progress: a contender did not get a resource after everything was healed
  /// - starved: while nothing was broken, a call waited for far too long
  /// - idle: while nothing was broken, a resource that a call waited for was free for far too long
  /// - late: after a failover, no lock was granted for far too long
  /// - died: a contender ended by itself
  /// - unreadable: a record cannot be understood
  std::string kind{};
  std::string resource{};  ///< empty: the violation is not about a resource
  std::string what{};      ///< one line
  BootTime at = 0;         ///< when it happened; 0: not at one instant
};

struct Judgement {
  std::vector<Violation> violations{};
  std::uint64_t broken = 0;  ///< the locks that operators broke
  std::uint64_t delays = 0;  ///< those of them with a delay
  std::uint64_t lost_updates = 0;
  std::uint64_t updates = 0;  ///< the updates that the counter files accepted
  std::uint64_t refusals = 0;
  /// The number of overlap, too-soon and overtaken that are excused, because a node had evicted a
  /// lock so shortly before that nobody could know.
  std::uint64_t unnoticed = 0;
  Waiting waiting{};  ///< the waits while nothing was broken
  std::vector<Recovery> recoveries{};

  /// Whether nothing was violated, although there were leases that could have violated something.
  [[nodiscard]] bool good(const History& history) const noexcept {
    return violations.empty() && !history.leases.empty();
  }
};

[[nodiscard]] Judgement judge(const History& history);

}  // namespace redlock::chaos
