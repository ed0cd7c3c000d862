#include "chaos/checker/checker_waiting.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "chaos/checker/checker_failover.hpp"

namespace redlock::chaos {
namespace {

/// How long the effects of a fault last: quarantines, and leases of holders that died.
constexpr BootTime aftermath = 1'600'000'000;

struct Span {
  BootTime begin = 0;
  BootTime end = 0;
};

/// The union of the spans, as disjoint spans in order.
std::vector<Span> united(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::vector<Span> result;
  for (const Span& span : spans) {
    if (span.end <= span.begin) continue;
    if (!result.empty() && span.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, span.end);
    } else {
      result.push_back(span);
    }
  }
  return result;
}

/// The parts of `whole` outside `parts`, which are disjoint and in order.
std::vector<Span> without(Span whole, const std::vector<Span>& parts) {
  std::vector<Span> rest;
  for (const Span& part : parts) {
    if (part.end <= whole.begin || part.begin >= whole.end) continue;
    if (part.begin > whole.begin) rest.push_back({whole.begin, part.begin});
    whole.begin = std::max(whole.begin, part.end);
  }
  if (whole.begin < whole.end) rest.push_back(whole);
  return rest;
}

std::vector<Span> calm_stretches(const History& history) {
  std::vector<Span> broken;
  const BootTime after = history.service ? longest_recovery(history) : aftermath;
  for (const FaultRecord& fault : history.faults) {
    broken.push_back({fault.begin, fault.end + after});
  }
  for (const FailoverRecord& failover : history.failovers) {
    broken.push_back({failover.at, failover.at + after});
  }
  for (const DeathRecord& death : history.deaths) {
    broken.push_back({death.at, death.at + aftermath});
  }
  return without({history.begin, history.finished.value_or(history.begin)},
                 united(std::move(broken)));
}

Span common(const Span& a, const Span& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

/// The use of one resource: when somebody waited for it alone, and when somebody had it.
struct Use {
  std::vector<Span> waited;
  std::vector<Span> held;
};

std::map<std::string, Use> uses(const History& history) {
  std::map<std::string, Use> result;
  for (const LeaseRecord& lease : history.leases) {
    Use& use = result[lease.resource];
    if (lease.also.empty()) use.waited.push_back({lease.asked, lease.granted});
    use.held.push_back({lease.granted, lease.end()});
    for (const std::string& other : lease.also) {
      result[other].held.push_back({lease.granted, lease.end()});
    }
  }
  for (const FailureRecord& failure : history.failures) {
    // If the call was for several resources, any of them may have been in the way.
    if (failure.resource.find(',') != std::string::npos) continue;
    result[failure.resource].waited.push_back({failure.asked, failure.at});
  }
  return result;
}

}  // namespace

Waiting waiting_of(const History& history) {
  Waiting result;
  const std::vector<Span> calm = calm_stretches(history);
  for (const auto& [resource, use] : uses(history)) {
    // A resource with an interval is meant to stay free, and a free permit says nothing about the
    // other permits.
    const bool can_be_idle = !history.intervals.contains(resource) && !permit_of(resource);
    const std::vector<Span> held = united(use.held);
    for (const Span& stretch : calm) {
      for (const Span& waited : use.waited) {
        const Span calmly = common(waited, stretch);
        if (calmly.end <= calmly.begin) continue;
        if (can_be_idle && calmly.end - calmly.begin > result.longest_wait) {
          result.longest_wait = calmly.end - calmly.begin;
          result.waited_for = resource;
          result.waited_at = calmly.begin;
        }
        if (!can_be_idle) continue;
        for (const Span& idle : without(calmly, held)) {
          if (idle.end - idle.begin <= result.longest_idle) continue;
          result.longest_idle = idle.end - idle.begin;
          result.idle_resource = resource;
          result.idle_at = idle.begin;
        }
      }
    }
  }
  return result;
}

}  // namespace redlock::chaos
