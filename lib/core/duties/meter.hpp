#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/claim/claim.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "core/waiting/acquisition.hpp"
#include "redlock/error.hpp"
#include "redlock/limits.hpp"
#include "redlock/metrics.hpp"
#include "redlock/report.hpp"

namespace redlock::core {

/// A histogram that durations are recorded in.
struct RecordedDurations : DurationHistogram {
  void record(Duration duration) noexcept {
    const auto length = static_cast<std::uint64_t>(duration.count());
    // A bound itself belongs to the bucket below it.
    const std::uint64_t below = (length + (length == 0 ? 1U : 0U) - 1) | 1023U;
    ++counts[std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(below)) - 10, bounds)];
    sum += decltype(sum)(length);
  }
};

/// The engine's counts for operators. Each count costs a few instructions and allocates nothing;
/// only the last error of a node is copied, into memory that is used again. The counts must never
/// influence a decision. Metrics says what each of them means.
class Meter {
 public:
  Meter(const Settings& settings, const Nodes& nodes) : settings_(settings), nodes_(nodes) {}

  // --- calls ------------------------------------------------------------------------------------
  void attempt_began() noexcept { ++attempts_; }
  /// An acquisition was refused, and waits.
  void wait_began() noexcept { ++waiting_; }
  void granted(const Acquisition& acquisition, const Claim& claim, Instant now);
  void failed(const Acquisition& acquisition, Errc code) noexcept {
    refused(code);
    if (acquisition.is_waiting) --waiting_;
  }
  /// A call failed before it became an acquisition.
  void refused(Errc code) noexcept { ++failed_[static_cast<std::size_t>(code)]; }

  // --- leases -----------------------------------------------------------------------------------
  void renewed() noexcept { ++renewals_done_; }
  void renewal_failed() noexcept { ++renewals_failed_; }
  void lease_lost() noexcept { ++lost_; }
  void lease_ended(Duration held) noexcept { holds_.record(held); }

  // --- nodes ------------------------------------------------------------------------------------
  void connected(NodeIndex node) noexcept { ++counted_[node].connections; }
  void fencing_raised(NodeSet nodes) noexcept {
    nodes.each([&](NodeIndex node) { ++counted_[node].fencing_raises; });
  }
  /// A request for a vote was answered. The answer counts as a grant unless answered() follows.
  void round_trip(NodeIndex node, Duration took) noexcept {
    counted_[node].round_trips.record(took);
  }
  /// The answer was not a grant, or was a grant that does not count.
  void answered(NodeIndex node, Vote vote) noexcept {
    did_not_answer(node, vote);
    ++counted_[node].answered_otherwise;
  }
  /// The node was not asked, or its connection ended: its missing vote is counted.
  void did_not_answer(NodeIndex node, Vote vote) noexcept {
    ++counted_[node].votes[static_cast<std::size_t>(vote)];
  }
  /// Counts what the answer to a request for a vote was worth; without an answer, the vote was
  /// worth `failure`.
  void count_vote(const Claim& claim, const Answer& answer, Vote failure,
                  const std::optional<Duration>& took) {
    if (took) round_trip(answer.node, *took);
    const bool granted = answer.reply == Reply::granted && claim.keys->has_vote_of(answer.node);
    if (!granted) count_other_vote(claim, answer, failure);
  }

  /// Reports everything but what only the engine knows: acquisitions in progress, leases, and owed
  /// releases.
  [[nodiscard]] Metrics report(Instant now) const;

 private:
  struct Node {
    RecordedDurations round_trips;  ///< round trips of all requests for a vote that were answered
    /// Answered requests that were not counted as anything else.
    [[nodiscard]] std::uint64_t granted() const noexcept {
      return round_trips.count() - answered_otherwise;
    }
    std::uint64_t answered_otherwise = 0;  ///< answers other than grants: grants are the most
                                           ///< frequent, and so cost nothing to count
    std::array<std::uint64_t, static_cast<std::size_t>(Vote::excluded) + 1> votes{};
    std::uint64_t connections = 0;
    std::uint64_t fencing_raises = 0;
    struct Refusal {
      std::uint64_t at = 0;  ///< the number of requests that the node had answered by then
      std::string why{};
    };
    Refusal refusal{};  ///< the last answer that was an error
  };

  void count_other_vote(const Claim& claim, const Answer& answer, Vote failure);
  [[nodiscard]] NodeMetrics report(NodeIndex node, Instant now) const;

  const Settings& settings_;
  const Nodes& nodes_;
  std::array<std::uint64_t, static_cast<std::size_t>(Errc::limit_reached) + 1> failed_{};
  std::uint64_t granted_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t handovers_ = 0;
  RecordedDurations waits_;
  RecordedDurations holds_;
  std::uint64_t renewals_done_ = 0;
  std::uint64_t renewals_failed_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t fenced_in_one_round_ = 0;
  std::uint64_t fenced_in_more_rounds_ = 0;
  std::uint64_t waiting_ = 0;
  std::array<Node, limits::nodes> counted_{};
};

}  // namespace redlock::core
