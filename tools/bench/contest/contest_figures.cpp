#include "bench/contest/contest_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace redlock::bench {
namespace {

using Records = std::vector<ContestRecord>;

std::string name_of(std::uint32_t contender) {
  return contender == contest_gate ? "the gate" : fmt::format("contender {}", contender);
}

/// Cuts off the records that do not count. Returns those of contenders that waited when the last
/// holder that counts released.
Records split_off_rest(Records& records, std::uint64_t counted) {
  std::uint64_t seen = 0;
  auto end = records.begin();
  for (; end != records.end() && seen < counted; ++end) {
    if (end->contender != contest_gate) ++seen;
  }
  Records rest(end, records.end());
  records.erase(end, records.end());
  return rest;
}

class Judge {
 public:
  Judge(ContestPattern pattern, std::size_t contenders)
      : drain_(pattern == ContestPattern::drain), shares_(contenders) {}

  ContestResult result(const Records& records, const Records& rest) {
    for (const ContestRecord& record : records) {
      take(record);
      previous_ = &record;
    }
    if (previous_ != nullptr) end_span(previous_->released);
    if (previous_ != nullptr && !drain_) {
      for (const ContestRecord& record : rest) {
        worst_until(previous_->released - record.began);
      }
    }
    if (!shares_.empty()) {
      const auto [least, most] = std::minmax_element(shares_.begin(), shares_.end());
      result_.least = *least;
      result_.most = *most;
    }
    return std::move(result_);
  }

 private:
  void take(const ContestRecord& record) {
    check(record);
    result_.unacknowledged += record.unacknowledged;
    if (record.contender == contest_gate) {
      // The contenders have finished; from now on the parent lets them queue up.
      if (previous_ != nullptr) end_span(previous_->released);
      span_start_ = waits_from_ = record.released;
      return;
    }
    if (previous_ == nullptr) span_start_ = record.granted;
    ++result_.acquisitions;
    if (record.contender < shares_.size()) ++shares_[record.contender];
    const std::chrono::nanoseconds waited{record.granted - std::max(record.began, waits_from_)};
    result_.wait.record(waited);
    worst_until(waited.count());
    if (previous_ == nullptr) return;
    if (record.contender == previous_->contender) {
      ++result_.reentries;
    } else if (record.began <= previous_->released) {
      ++result_.hand_overs;
      result_.hand_over.record(std::chrono::nanoseconds{record.granted - previous_->released});
    }
  }

  void check(const ContestRecord& record) {
    if (previous_ == nullptr || record.granted >= previous_->released) return;
    if (result_.overlaps++ != 0) return;
    result_.wrong = fmt::format("{} was granted the lock {} ns before {} released it",
                                name_of(record.contender), previous_->released - record.granted,
                                name_of(previous_->contender));
  }

  void end_span(std::int64_t at) {
    result_.elapsed += std::chrono::nanoseconds{std::max<std::int64_t>(at - span_start_, 0)};
  }

  void worst_until(std::int64_t waited) {
    result_.worst_wait = std::max(result_.worst_wait, std::chrono::nanoseconds{waited});
  }

  bool drain_;
  std::vector<std::uint64_t> shares_;
  const ContestRecord* previous_ = nullptr;
  std::int64_t span_start_ = 0;
  /// In a drain, the contenders queue up while the gate holds the lock. That time does not count as
  /// a wait.
  std::int64_t waits_from_ = INT64_MIN;
  ContestResult result_{};
};

}  // namespace

ContestResult judge_contest(std::vector<ContestRecord> records, ContestPattern pattern,
                            std::size_t contenders, std::uint64_t counted) {
  std::sort(records.begin(), records.end(),
            [](const ContestRecord& a, const ContestRecord& b) { return a.granted < b.granted; });
  const Records rest = split_off_rest(records, counted);
  return Judge(pattern, contenders).result(records, rest);
}

std::int64_t contest_now() noexcept {
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &now));
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace redlock::bench
