#pragma once

#include "redlock/language.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redlock/export.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

/// Durations, counted in buckets: bucket i ends at 2^(10+i) ns (1 µs … 18 min); the last one is
/// open. A value: it allocates nothing.
struct REDLOCK_EXPORT DurationHistogram {
  static constexpr std::size_t bounds = 31;

  /// Element i: the number of durations above `bound(i - 1)` and at most `bound(i)`. The last
  /// element: durations above all bounds.
  std::array<std::uint64_t, bounds + 1> counts{};
  /// The sum of all durations; it begins at zero again after 584 years.
  std::chrono::duration<std::uint64_t, std::nano> sum{0};

  /// The bound of bucket `i`, which is less than `bounds`.
  [[nodiscard]] static constexpr std::chrono::nanoseconds bound(std::size_t i) noexcept {
    return std::chrono::nanoseconds(std::int64_t{1024} << i);
  }

  /// The number of all recorded durations.
  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t one : counts) all += one;
    return all;
  }
};

/// The state of one node, and its counts, as one client has seen them.
struct REDLOCK_EXPORT NodeMetrics {
  std::string node{};  ///< the node's address as configured, without the password

  bool up = false;  ///< connected, authenticated, identified
  /// It can vote for a new lease: it is up, no guard excludes it, and it did not answer the last
  /// request for a vote with an error.
  bool may_vote = false;
  /// Why it has no vote for new leases, or the error with which it refused the last request for
  /// one. Empty: nothing is wrong with it.
  std::string problem{};
  std::uint64_t reconnects = 0;  ///< connections after the first

  /// How long requests for a vote took: those of acquires and of renewals.
  DurationHistogram round_trips{};

  /// The votes of rounds that acquire or extend a lease, also of nodes that were not asked because
  /// they were down or excluded. See Vote.
  struct Votes {
    std::uint64_t granted = 0;
    std::uint64_t refused = 0;
    std::uint64_t timeout = 0;
    std::uint64_t unreachable = 0;
    std::uint64_t error = 0;
    std::uint64_t excluded = 0;
  };
  Votes votes{};

  /// How much longer the node has no vote for new leases; zero: it is not in quarantine.
  std::chrono::nanoseconds quarantine{0};

  /// The node's wall clock minus the median of all nodes' wall clocks. None: it is not known, or
  /// the clock guard is off.
  std::optional<std::chrono::nanoseconds> clock_offset{};

  /// Leases and attempts that are over and whose release the node has not received.
  std::uint64_t owed_releases = 0;

  /// Requests to raise a fencing number after the acquire's first round trip: the slow path.
  std::uint64_t fencing_raises = 0;
};

/// A snapshot of a client's counts since it was created, and of its state. Counts of calls and
/// leases are of this client alone, not of all clients of the nodes.
struct REDLOCK_EXPORT Metrics {
  /// Acquire calls by how they ended. Calls that were refused for their arguments are not counted.
  struct Acquires {
    std::uint64_t granted = 0;
    std::uint64_t held = 0;
    std::uint64_t split = 0;
    std::uint64_t unavailable = 0;
    std::uint64_t expired = 0;
    std::uint64_t excluded = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t closed = 0;
    std::uint64_t limit_reached = 0;
  };
  Acquires acquires{};

  std::uint64_t attempts = 0;   ///< rounds of acquire calls: one or more for each call
  std::uint64_t handovers = 0;  ///< leases granted to an attempt that a notification began

  /// For granted leases: the time from the beginning of the call until the grant.
  DurationHistogram waits{};
  /// For leases that are over: the time from the grant until they were released, detached or lost.
  DurationHistogram holds{};

  /// Rounds that extended a lease of this client, in the background or by a call.
  std::uint64_t renewals_done = 0;
  std::uint64_t renewals_failed = 0;  ///< too few votes; the lease goes on until its deadline
  std::uint64_t leases_lost = 0;      ///< leases whose deadline passed

  /// Leases with a fencing token that a quorum acknowledged in the acquire's only round trip.
  std::uint64_t fenced_in_one_round = 0;
  /// Leases that took another round trip, because the clocks of the clients are apart.
  std::uint64_t fenced_in_more_rounds = 0;

  std::uint64_t acquires_in_progress = 0;  ///< calls that have not answered
  std::uint64_t acquires_waiting = 0;      ///< calls in progress that were refused at least once
  std::uint64_t leases_held = 0;

  /// The number of votes that a lease needs now: a majority of the members, or
  /// `ClientOptions::quorum` if that is more.
  std::size_t quorum = 0;
  /// The number of members of the deployment, also of those that the options do not name. Before
  /// any is known: the number of nodes in the options.
  std::size_t members = 0;
  std::vector<NodeMetrics> nodes{};  ///< in the order of ClientOptions::nodes, then learned ones
};

/// One more label of every sample.
struct REDLOCK_EXPORT MetricLabel {
  std::string name{};   ///< letters, digits and underscores; any other character becomes one
  std::string value{};  ///< UTF-8
};

/// The metrics in the text exposition format of Prometheus, version 0.0.4, in base units (seconds).
/// All names begin with `redlock_`. The label `node` is the node's address without the password.
/// tools/docs/METRICS.md says what each metric means. Give each client distinct `labels` if you
/// merge outputs. Thread-safe.
[[nodiscard]] REDLOCK_EXPORT std::string to_prometheus(const Metrics& metrics,
                                                       const std::vector<MetricLabel>& labels = {});

}  // namespace REDLOCK_ABI
}  // namespace redlock
