#pragma once

#include <string>

#include "chaos/checker/checker_history.hpp"

namespace redlock::chaos {

/// How long callers waited, and how long resources were free while a caller waited for them. Only
/// times count in which nothing was broken, and had not been for a while.
struct Waiting {
  BootTime longest_wait = 0;  ///< from the call to the lease, or to giving up
  std::string waited_for{};
  BootTime waited_at = 0;
  BootTime longest_idle = 0;
  std::string idle_resource{};
  BootTime idle_at = 0;
};

/// No caller waits longer on a working machine, however busy it is. Waiters retry every three
/// seconds if every notification is lost; no caller should need more than a few retries.
inline constexpr BootTime longest_fair_wait = 10'000'000'000;

[[nodiscard]] Waiting waiting_of(const History& history);

}  // namespace redlock::chaos
