#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/checker/checker_history.hpp"
#include "chaos/checker/checker_waiting.hpp"

namespace redlock::chaos {

/// One broken promise.
struct Violation {
  /// overlap: two leases on a resource at one instant that may not share it. no-permit: one permit
  /// more than the semaphore has. too-soon: a resource was granted twice within its interval.
  /// token-order: a later lease without a larger fencing token. used-after-end: the library called
  /// a lease valid after its deadline or after it had reported its loss. too-long: a deadline
  /// beyond what the TTL allows. overtaken: the counter refused the holder of a valid lease.
  /// lost-update: the counter holds less than was written. no-progress: a contender did not get a
  /// resource after everything was healed. starved, idle: while nothing was broken, a call waited,
  /// or a resource that was waited for was free, for far too long. died: a contender ended by
  /// itself. unreadable: a record that cannot be understood.
  std::string kind{};
  std::string resource{};  ///< empty: it is about no resource
  std::string what{};      ///< one line
  BootTime at = 0;         ///< 0: at no instant
};

struct Judgement {
  std::vector<Violation> violations{};
  std::uint64_t lost_updates = 0;
  std::uint64_t updates = 0;  ///< that the counter files took
  std::uint64_t refusals = 0;
  /// How many overlap, too-soon and overtaken are excused: a node had evicted a lock so shortly
  /// before that nobody could know.
  std::uint64_t unnoticed = 0;
  Waiting waiting{};  ///< while nothing was broken

  /// Nothing was violated, and there was something that could have been.
  [[nodiscard]] bool good(const History& history) const noexcept {
    return violations.empty() && !history.leases.empty();
  }
};

[[nodiscard]] Judgement judge(const History& history);

}  // namespace redlock::chaos
