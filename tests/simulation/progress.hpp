#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>

#include "simulation/clock.hpp"
#include "simulation/node/model_node.hpp"

namespace redlock::simulation {

/// Measures, in true time, how long callers wait, and how long a resource is free while a caller
/// waits for it. Permits of a semaphore count as one resource of that capacity. For a reader, a
/// resource is also free while only readers have it and nobody else waits for it. For others, it is
/// not free while it may be kept for a caller that also waits for another resource.
class Progress {
 public:
  explicit Progress(std::size_t capacity) : capacity_(capacity) {}

  /// A caller's request.
  struct Call {
    True since = 0;
    std::uint64_t resources = 0;  ///< a bit for each
    bool reads = false;
    bool may_wait = false;
  };

  void begins(std::uint32_t caller, const Call& call) {
    calls_[caller] = call;
    if (call.reads || !call.may_wait) return;
    measure(call.resources, call.since);
    each(call.resources, [](Resource& resource) { ++resource.others_ask; });
  }
  /// The caller waits until it is granted the resources or gives up; `queued_by`: when it is in the
  /// queues.
  void waits(std::uint32_t caller, True queued_by) {
    account(calls_[caller].since);
    waiting_[caller] = {calls_[caller].resources, calls_[caller].since, queued_by, {}, {}};
  }
  void gives_up(std::uint32_t caller, True now) { ends(caller, now); }
  /// The caller's process hangs: nothing can be free for it.
  void freezes(std::uint32_t caller, True now) {
    account(now);
    waiting_.erase(caller);
  }

  void granted(std::uint32_t caller, std::uint64_t resources, True now) {
    account(now);
    ++grants_[caller];
    measure(resources, now);
    count_overtaken(caller, resources);
    if (const auto mine = waiting_.find(caller); mine != waiting_.end()) {
      longest_wait_ = std::max(longest_wait_, now - mine->second.since);
    }
    const bool reads = calls_[caller].reads;
    ends(caller, now);
    each(resources, [reads](Resource& resource) {
      ++resource.holders;
      if (reads) ++resource.readers;
    });
  }
  /// Nobody may have the resources before `free_at`, which is later than now for an interval.
  void freed(std::uint64_t resources, bool reads, True free_at) {
    account(free_at);
    for (const auto& [caller, wait] : waiting_) {
      if ((wait.resources & resources) != 0) measure_kept(wait.resources, free_at);
    }
    each(resources, [&](Resource& resource) {
      --resource.holders;
      resource.free_since = std::max(resource.free_since, free_at);
      if (reads) {
        --resource.readers;
      } else {
        resource.open_since = std::max(resource.open_since, free_at);
      }
    });
    for (const auto& [caller, wait] : waiting_) {
      if ((wait.resources & resources) != 0) count_from(wait.resources, free_at);
    }
  }
  /// The holder of the resources only reads from now on.
  void downgraded(std::uint64_t resources, True now) {
    account(now);
    each(resources, [&](Resource& resource) {
      ++resource.readers;
      resource.open_since = std::max(resource.open_since, now);
    });
  }
  /// The run ends: counts the callers that still wait.
  void end(True now) {
    account(now);
    measure(~std::uint64_t{0}, now);
    for (const auto& [caller, wait] : waiting_) {
      longest_wait_ = std::max(longest_wait_, now - wait.since);
    }
  }

  [[nodiscard]] True longest_wait() const { return longest_wait_; }
  [[nodiscard]] True longest_idle() const { return longest_idle_; }
  /// The longest time that a resource was free while a caller of it alone waited, because callers
  /// of several resources kept it.
  [[nodiscard]] True longest_kept() const { return longest_kept_; }
  /// How often one caller was granted a resource before the same waiting caller, each time in a
  /// call that began when the waiting caller was in the queues.
  [[nodiscard]] std::uint32_t most_overtaken() const { return most_overtaken_; }
  /// How many grants of one resource went to others while a caller waited for it.
  [[nodiscard]] std::uint32_t most_turns() const { return most_turns_; }
  /// The average share of permits that callers had, among those that they had or waited for.
  [[nodiscard]] double used() const { return wanted_ > 0 ? had_ / wanted_ : 1.0; }
  /// The number of grants, by caller.
  [[nodiscard]] const std::map<std::uint32_t, std::uint64_t>& grants() const { return grants_; }

 private:
  void account(True now) {
    const auto passed = static_cast<double>(std::max<True>(0, now - accounted_));
    accounted_ = std::max(accounted_, now);
    const std::size_t had = resources_[0].holders;
    had_ += passed * static_cast<double>(had);
    wanted_ += passed * static_cast<double>(std::min(capacity_, had + waiting_.size()));
  }

  struct Resource {
    std::size_t holders = 0;
    std::size_t readers = 0;  ///< holders that read
    True free_since = 0;
    std::size_t others_ask = 0;  ///< callers that do not read, and may wait
    True open_since = 0;         ///< since when the resource is free to readers
  };
  struct Wait {
    std::uint64_t resources = 0;
    True since = 0;
    True queued_by = 0;
    std::map<std::uint32_t, std::uint32_t> overtaken;   ///< how often each caller overtook this one
    std::array<std::uint32_t, most_resources> turns{};  ///< grants to others, by resource
  };

  void count_overtaken(std::uint32_t caller, std::uint64_t resources) {
    for (auto& [other, wait] : waiting_) {
      if (other == caller || (wait.resources & resources) == 0) continue;
      for (std::size_t i = 0; i < wait.turns.size(); ++i) {
        if (((wait.resources & resources) >> i & 1U) == 0) continue;
        most_turns_ = std::max(most_turns_, ++wait.turns[i]);
      }
      if (calls_[caller].since <= wait.queued_by) continue;
      most_overtaken_ = std::max(most_overtaken_, ++wait.overtaken[caller]);
    }
  }

  template <typename Visit>
  void each(std::uint64_t resources, Visit&& visit) {
    for (std::size_t i = 0; i < resources_.size() && resources >> i != 0; ++i) {
      if (((resources >> i) & 1U) != 0) visit(resources_[i]);
    }
  }

  /// Counts several resources as free only from `now` on: until then they may have been kept for a
  /// caller.
  void count_from(std::uint64_t resources, True now) {
    if (std::has_single_bit(resources)) return;
    each(resources,
         [now](Resource& resource) { resource.free_since = std::max(resource.free_since, now); });
  }

  /// Ends the stretch for which several resources may have been kept for a caller.
  void measure_kept(std::uint64_t resources, True now) {
    if (!std::has_single_bit(resources)) measure(resources, now);
  }

  /// Whether any of the resources may be kept for a caller that waits for another resource as well.
  [[nodiscard]] bool may_be_kept(std::uint64_t resources) {
    return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
      const std::uint64_t wanted = entry.second.resources;
      bool waits = false;
      each(wanted,
           [&](const Resource& resource) { waits = waits || resource.holders >= capacity_; });
      return waits && (wanted & resources) != 0 && (wanted & ~resources) != 0;
    });
  }

  /// The caller has an answer.
  void ends(std::uint32_t caller, True now) {
    account(now);
    if (const auto wait = waiting_.find(caller); wait != waiting_.end()) {
      measure_kept(wait->second.resources, now);
      count_from(wait->second.resources, now);
      waiting_.erase(wait);
    }
    const auto mine = calls_.find(caller);
    if (mine == calls_.end()) return;
    if (!mine->second.reads && mine->second.may_wait) {
      each(mine->second.resources, [now](Resource& resource) {
        --resource.others_ask;
        resource.open_since = std::max(resource.open_since, now);
      });
    }
    calls_.erase(mine);
  }

  /// Ends the idle stretch of every waiting caller whose resources were all free until now.
  void measure(std::uint64_t resources, True now) {
    for (const auto& [caller, wait] : waiting_) {
      if ((wait.resources & resources) == 0) continue;
      bool free = true;
      True since = wait.since;
      const bool reads = calls_[caller].reads;
      each(wait.resources, [&](const Resource& resource) {
        const bool open = reads && resource.holders == resource.readers && resource.others_ask == 0;
        free = free && (open || resource.holders < capacity_);
        since = std::max(since, open ? resource.open_since : resource.free_since);
      });
      if (!free) continue;
      const bool is_kept = may_be_kept(wait.resources);
      if (!is_kept) longest_idle_ = std::max(longest_idle_, now - since);
      const bool alone = std::has_single_bit(wait.resources);
      if (is_kept && alone) longest_kept_ = std::max(longest_kept_, now - since);
    }
  }

  std::size_t capacity_;
  std::array<Resource, most_resources> resources_{};
  std::map<std::uint32_t, Wait> waiting_;
  std::map<std::uint32_t, Call> calls_;  ///< calls without an answer
  std::uint32_t most_overtaken_ = 0;
  std::uint32_t most_turns_ = 0;
  True longest_wait_ = 0;
  True longest_idle_ = 0;
  True longest_kept_ = 0;
  True accounted_ = 0;
  double had_ = 0;
  double wanted_ = 0;
  std::map<std::uint32_t, std::uint64_t> grants_;
};

}  // namespace redlock::simulation
