#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/measure/histogram.hpp"

namespace redlock::bench {

/// How contenders come back for a lock that they released.
enum class ContestPattern {
  reentry,  ///< at once, so that they compete with those that wait already
  drain,    ///< once in each lap, after all of them were served
};

/// The holder that keeps the lock while the contenders of a lap queue up.
inline constexpr std::uint32_t contest_gate = UINT32_MAX;

/// One acquisition. Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine
/// share.
struct ContestRecord {
  std::int64_t began = 0;            ///< when the wait began
  std::int64_t granted = INT64_MAX;  ///< INT64_MAX: the contender was stopped while it waited
  std::int64_t released = 0;         ///< when the call to release began
  std::uint32_t contender = 0;
  std::uint32_t unacknowledged = 0;  ///< 1: too few nodes confirmed the release
};

struct ContestResult {
  std::uint64_t acquisitions = 0;
  std::uint64_t hand_overs = 0;  ///< grants to another contender that waited when the release began
  std::uint64_t reentries = 0;   ///< grants to the contender that had just released
  std::uint64_t unacknowledged = 0;
  /// The time in which a contender held the lock or waited for it.
  std::chrono::nanoseconds elapsed{0};
  Histogram hand_over;  ///< from the call to release to the next grant
  Histogram wait;
  /// A wait that was not over at the end counts until the end.
  std::chrono::nanoseconds worst_wait{0};
  std::uint64_t most = 0;      ///< acquisitions of the contender that had the most
  std::uint64_t least = 0;     ///< acquisitions of the contender that had the fewest
  std::uint64_t overlaps = 0;  ///< grants while another contender held the lock
  std::string wrong{};         ///< describes the first of them; empty: there was none
};

/// `records` are of all contenders and the gate, in any order. The first `counted` grants to
/// contenders count; the later ones only show who still waited after these.
[[nodiscard]] ContestResult judge_contest(std::vector<ContestRecord> records,
                                          ContestPattern pattern, std::size_t contenders,
                                          std::uint64_t counted);

/// Now, on the clock of the records.
[[nodiscard]] std::int64_t contest_now() noexcept;

}  // namespace redlock::bench
