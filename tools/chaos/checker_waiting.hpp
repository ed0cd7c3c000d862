#pragma once

#include <string>

#include "chaos/checker_history.hpp"

namespace redlock::chaos {

/// How long callers waited, and how long resources stood free while somebody waited for them. Only
/// what lies in stretches in which nothing was broken, nor had been for a while, counts.
struct Waiting {
  BootTime longest_wait = 0;  ///< from the call to the lease, or to giving up
  std::string waited_for{};
  BootTime waited_at = 0;
  BootTime longest_idle = 0;
  std::string idle_resource{};
  BootTime idle_at = 0;
};

/// What nobody waits for on a machine that is not broken, whatever else it has to do. Waiters retry
/// every three seconds if every notification is lost; nobody should need more than a few of these.
inline constexpr BootTime longest_fair_wait = 10'000'000'000;

[[nodiscard]] Waiting waiting_of(const History& history);

}  // namespace redlock::chaos
