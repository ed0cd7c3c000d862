#pragma once

#include <cstddef>
#include <vector>

#include "chaos/checker/checker_history.hpp"

namespace redlock::chaos {

/// How long no lock was granted after a failover of a replicated service.
struct Recovery {
  BootTime failover = 0;  ///< when its managers said that it has another primary
  BootTime granted = 0;   ///< the first grant after that; with none, the end of the run
  /// The last fault that was over before the grant, or the failover if none was.
  BootTime whole = 0;
};

/// One for each failover that no other one followed before the next grant.
[[nodiscard]] std::vector<Recovery> recoveries_of(const History& history);

/// From when the service is whole until a lock is granted: until a majority follows the new
/// primary, and the max TTL from then on.
[[nodiscard]] BootTime longest_recovery(const History& history);

}  // namespace redlock::chaos
