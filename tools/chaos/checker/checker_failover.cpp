#include "chaos/checker/checker_failover.hpp"

#include <algorithm>

namespace redlock::chaos {

std::vector<Recovery> recoveries_of(const History& history) {
  std::vector<BootTime> grants;
  for (const LeaseRecord& lease : history.leases) grants.push_back(lease.granted);
  std::sort(grants.begin(), grants.end());
  std::vector<Recovery> result;
  for (const FailoverRecord& failover : history.failovers) {
    const auto next = std::upper_bound(grants.begin(), grants.end(), failover.at);
    Recovery recovery;
    recovery.failover = recovery.whole = failover.at;
    recovery.granted = next != grants.end() ? *next : history.finished.value_or(failover.at);
    if (!result.empty() && result.back().granted == recovery.granted) result.pop_back();
    for (const FaultRecord& fault : history.faults) {
      if (fault.begin < recovery.granted) recovery.whole = std::max(recovery.whole, fault.end);
    }
    result.push_back(recovery);
  }
  return result;
}

BootTime longest_recovery(const History& history) {
  constexpr BootTime until_followed = 5'000'000'000;
  return (history.service ? history.service->max_ttl : 0) + until_followed;
}

}  // namespace redlock::chaos
