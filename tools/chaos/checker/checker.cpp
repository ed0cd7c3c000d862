#include "chaos/checker/checker.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

namespace redlock::chaos {
namespace {

/// "12.345 s" into the run.
std::string when(const History& history, BootTime at) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s", static_cast<double>(at - history.begin) / 1e9);
  return text;
}

std::string span_of(const History& history, const LeaseRecord& lease) {
  const std::string who =
      lease.group.empty() ? "token " + std::to_string(lease.token) : lease.group;
  return lease.name + " (" + when(history, lease.granted) + " to " + when(history, lease.end()) +
         ", " + who + ")";
}

/// Clients read the number of evictions once per second. On a busy machine, the answer can take
/// half a second more.
constexpr BootTime eviction_notice = 1'500'000'000;

using ByResource = std::map<std::string, std::vector<const LeaseRecord*>>;

/// Leases that were over when their process learned of them protect nothing and are left out: when
/// they were granted is not known well enough to order them among the others.
ByResource ordered(const History& history) {
  ByResource result;
  for (const LeaseRecord& lease : history.leases) {
    if (lease.granted >= lease.end()) continue;
    result[lease.resource].push_back(&lease);
    for (const std::string& resource : lease.also) result[resource].push_back(&lease);
  }
  for (auto& [resource, leases] : result) {
    std::stable_sort(leases.begin(), leases.end(),
                     [](const auto* a, const auto* b) { return a->granted < b->granted; });
  }
  return result;
}

class Judge {
 public:
  explicit Judge(const History& history) : history_(history) {
    std::set<std::string_view> known;
    for (const LeaseRecord& lease : history.leases) known.insert(lease.stored);
    for (const BreakRecord& record : history.breaks) {
      // A foreign contender may leave out its tokens.
      breaks_.emplace(known.contains(record.token) ? record.token : std::string(), &record);
      judgement_.broken += record.done ? 1U : 0U;
      judgement_.delays += record.done && record.delay > 0 ? 1U : 0U;
    }
  }

  Judgement run() {
    for (const std::string& line : history_.unreadable) add("unreadable", {}, line, 0);
    for (const auto& [resource, leases] : ordered(history_)) {
      overlaps(resource, leases);
      during_delays(resource, leases);
      permits(resource, leases);
      token_order(resource, leases);
      too_soon(resource, leases);
    }
    for (const LeaseRecord& lease : history_.leases) promises_of(lease);
    counters();
    progress();
    waits();
    recoveries();
    for (const DeathRecord& death : history_.deaths) {
      add("died", {},
          "contender " + std::to_string(death.contender) + " ended by itself: " + death.how,
          death.at);
    }
    std::stable_sort(judgement_.violations.begin(), judgement_.violations.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    return std::move(judgement_);
  }

 private:
  void add(std::string kind, std::string resource, std::string what, BootTime at) {
    judgement_.violations.push_back({std::move(kind), std::move(resource), std::move(what), at});
  }

  /// Whether the earlier lease may have lost a node by an eviction that nobody could know of at
  /// `at`.
  bool was_evicted(const LeaseRecord& earlier, BootTime at, BootTime late = 0) {
    return was_evicted(earlier.asked, at, late);
  }
  bool was_evicted(BootTime asked, BootTime at, BootTime late) {
    const bool evicted =
        std::any_of(history_.faults.begin(), history_.faults.end(), [&](const FaultRecord& fault) {
          return fault.kind == "evict" && asked < fault.end && fault.begin <= at &&
                 at < fault.end + eviction_notice + late;
        });
    judgement_.unnoticed += evicted ? 1 : 0;
    return evicted;
  }

  /// Until when the lease keeps others from the resource. After an operator broke its lock, its
  /// holder may not know; only the delay keeps others out then. A break that failed counts as well:
  /// some nodes may have done it.
  [[nodiscard]] BootTime end_on(const std::string& resource, const LeaseRecord& lease) const {
    BootTime end = lease.end();
    const auto [first, last] = breaks_.equal_range(lease.stored);
    for (auto record = first; record != last; ++record) {
      // No operator knows a token before the call that draws it.
      if (record->second->begin < lease.asked) continue;
      if (record->second->resource == resource) end = std::min(end, record->second->end());
    }
    return end;
  }

  /// Nobody gets a resource during a delay by an attempt that begins after the break was answered,
  /// whoever had the resource before.
  void during_delays(const std::string& resource, const std::vector<const LeaseRecord*>& leases) {
    for (const BreakRecord& record : history_.breaks) {
      if (record.resource != resource || !record.done) continue;
      const auto later = std::lower_bound(
          leases.begin(), leases.end(), *record.done,
          [](const LeaseRecord* lease, BootTime at) { return lease->granted < at; });
      for (auto next = later; next != leases.end() && (*next)->granted < record.end(); ++next) {
        const LeaseRecord* const lease = *next;
        if (lease->asked < *record.done) continue;
        if (was_evicted(record.begin, lease->granted, 0)) continue;
        add("not-kept-out", resource,
            span_of(history_, *lease) + " was granted during the delay of " +
                std::to_string(record.delay / 1'000'000) + " ms after a lock was broken at " +
                when(history_, record.begin),
            lease->granted);
      }
    }
  }

  void overlaps(const std::string& resource, const std::vector<const LeaseRecord*>& leases) {
    struct Last {
      const LeaseRecord* lease = nullptr;
      BootTime end = 0;
    };
    std::map<std::string, Last> longest;  // the lease of each group that ends last
    for (const LeaseRecord* lease : leases) {
      const BootTime end = end_on(resource, *lease);
      if (lease->granted >= end) continue;
      for (const auto& [group, last] : longest) {
        const LeaseRecord* const earlier = last.lease;
        const bool share = !group.empty() && group == lease->group;
        if (share || lease->granted >= last.end) continue;
        if (was_evicted(*earlier, lease->granted)) continue;
        add("overlap", resource,
            span_of(history_, *earlier) + " and " + span_of(history_, *lease) +
                " are valid at once",
            lease->granted);
      }
      Last& mine = longest[lease->group];
      if (mine.lease == nullptr || end > mine.end) mine = {lease, end};
    }
  }

  void permits(const std::string& resource, const std::vector<const LeaseRecord*>& leases) {
    const auto permit = permit_of(resource);
    if (!permit || *permit < history_.permits) return;
    add("no-permit", resource,
        leases.front()->name + " has a permit of a semaphore of " +
            std::to_string(history_.permits),
        leases.front()->granted);
  }

  void token_order(const std::string& resource, const std::vector<const LeaseRecord*>& leases) {
    const LeaseRecord* highest = nullptr;
    for (const LeaseRecord* lease : leases) {
      // Not every lease has a fencing token. And if a lock is broken before its holder learns of
      // the grant, its successor can be granted first.
      if (lease->token == 0 || lease->granted >= end_on(resource, *lease)) continue;
      if (highest != nullptr && lease->token <= highest->token) {
        add("token-order", resource,
            span_of(history_, *lease) + " has no larger token than the earlier " +
                span_of(history_, *highest),
            lease->granted);
      }
      if (highest == nullptr || lease->token > highest->token) highest = lease;
    }
  }

  /// The nodes' clocks count an interval from the moment when the nodes were asked.
  void too_soon(const std::string& resource, const std::vector<const LeaseRecord*>& leases) {
    const auto found = history_.intervals.find(resource);
    if (found == history_.intervals.end()) return;
    constexpr BootTime drift_constant = 2'000'000;
    const BootTime least = found->second - found->second / 100 - drift_constant;
    for (std::size_t i = 1; i < leases.size(); ++i) {
      if (leases[i]->granted >= leases[i - 1]->asked + least) continue;
      if (was_evicted(*leases[i - 1], leases[i]->granted)) continue;
      add("too-soon", resource,
          span_of(history_, *leases[i]) + " follows " + span_of(history_, *leases[i - 1]) +
              " within the interval",
          leases[i]->granted);
    }
  }

  void waits() {
    judgement_.waiting = waiting_of(history_);
    const Waiting& waiting = judgement_.waiting;
    if (waiting.longest_wait > longest_fair_wait) {
      add("starved", waiting.waited_for,
          "a call waited for " + std::to_string(waiting.longest_wait / 1'000'000) +
              " ms while nothing was broken",
          waiting.waited_at);
    }
    if (waiting.longest_idle > longest_fair_wait) {
      add("idle", waiting.idle_resource,
          "it was free for " + std::to_string(waiting.longest_idle / 1'000'000) +
              " ms while it was waited for and nothing was broken",
          waiting.idle_at);
    }
  }

  void recoveries() {
    judgement_.recoveries = recoveries_of(history_);
    for (const Recovery& recovery : judgement_.recoveries) {
      if (recovery.granted - recovery.whole <= longest_recovery(history_)) continue;
      add("late", {},
          "no lock was granted until " + when(history_, recovery.granted) +
              ", after the failover at " + when(history_, recovery.failover) +
              " and the last fault at " + when(history_, recovery.whole),
          recovery.failover);
    }
  }

  void promises_of(const LeaseRecord& lease) {
    // The round that won a deadline began before the deadline was seen.
    for (const auto& [seen, deadline] : lease.deadlines) {
      if (deadline - lease.ttl <= seen) continue;
      add("too-long", lease.resource,
          lease.name + " is valid for longer than its TTL from " + when(history_, seen) + " on",
          seen);
    }
    for (const BootTime at : lease.used) {
      if (at < lease.best_deadline && (!lease.lost || at <= *lease.lost)) continue;
      add("used-after-end", lease.resource,
          lease.name + " was called valid at " + when(history_, at) + ", but it ended at " +
              when(history_, std::min(lease.best_deadline, lease.lost.value_or(at))),
          at);
    }
    for (const BootTime at : lease.overtaken) {
      if (at >= end_on(lease.resource, lease) || was_evicted(lease, at, lease.ttl)) continue;
      add("overtaken", lease.resource,
          lease.name + " is valid, but the counter has seen a larger token at " +
              when(history_, at),
          at);
    }
  }

  void counters() {
    struct Sum {
      std::uint64_t tried = 0;
      std::uint64_t wrote = 0;
      std::uint64_t refused = 0;
    };
    std::map<std::string, Sum> sums;
    for (const std::string& resource : history_.resources) sums[resource] = {};
    for (const LeaseRecord& lease : history_.leases) {
      const auto& counted = history_.resources;
      if (std::find(counted.begin(), counted.end(), lease.resource) == counted.end()) continue;
      Sum& sum = sums[lease.resource];
      sum.tried += lease.tried;
      sum.wrote += lease.wrote;
      sum.refused += lease.refused;
    }
    for (const auto& [resource, sum] : sums) {
      judgement_.updates += sum.wrote;
      judgement_.refusals += sum.refused;
      const auto found = history_.counters.find(resource);
      const std::uint64_t value = found == history_.counters.end() ? 0 : found->second;
      if (value < sum.wrote) {
        judgement_.lost_updates += sum.wrote - value;
        add("lost-update", resource,
            std::to_string(sum.wrote) + " updates were written, the counter holds " +
                std::to_string(value),
            0);
      }
      // A contender killed between a write and its record leaves an update without a record.
      if (value > sum.wrote && value - sum.wrote > sum.tried - sum.wrote - sum.refused) {
        add("lost-update", resource,
            "the counter holds " + std::to_string(value) + ", more than the " +
                std::to_string(sum.wrote) + " updates that were written",
            0);
      }
    }
  }

  void progress() {
    if (!history_.healed) return;
    std::set<std::pair<std::size_t, std::string>> got;
    for (const LeaseRecord& lease : history_.leases) {
      if (lease.granted < *history_.healed || !lease.group.empty()) continue;
      got.emplace(lease.contender, lease.resource);
      for (const std::string& resource : lease.also) got.emplace(lease.contender, resource);
    }
    for (std::size_t contender = 0; contender < history_.contenders; ++contender) {
      for (const std::string& resource : history_.resources) {
        if (got.contains({contender, resource})) continue;
        add("no-progress", resource,
            "contender " + std::to_string(contender) +
                " did not get it after everything was healed",
            *history_.healed);
      }
    }
  }

  const History& history_;
  std::multimap<std::string, const BreakRecord*> breaks_{};  // by token
  Judgement judgement_{};
};

}  // namespace

Judgement judge(const History& history) { return Judge(history).run(); }

}  // namespace redlock::chaos
