#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/vocabulary/messages.hpp"
#include "core/vocabulary/settings.hpp"
#include "core/vocabulary/time.hpp"
#include "support/assert.hpp"
#include "support/ring.hpp"

namespace redlock::core {

/// When an answer came, and how long it took.
struct Arrival {
  Instant at{};
  Duration took{};
};

/// The requests to one node that are unanswered, in the order in which they were sent, and how long
/// an answer may take.
class InFlight {
 public:
  explicit InFlight(const Settings& settings) : settings_(&settings) {}

  [[nodiscard]] bool empty() const noexcept { return ring_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return ring_.size(); }
  [[nodiscard]] bool congested() const noexcept {
    return ring_.size() >= settings_->max_unanswered;
  }
  /// No request but upkeep is unanswered.
  [[nodiscard]] bool is_upkeep_only() const noexcept;
  /// Visits the stamps of the requests.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = 0; i < ring_.size(); ++i) visit(ring_[i].stamp);
  }

  void sent(const Stamp& stamp, Instant now) { ring_.push({stamp, now}); }
  /// Takes the oldest request, which must be the one that was answered; returns when its answer
  /// came, and its round trip.
  [[nodiscard]] Arrival answered(const Stamp& stamp, Instant now) {
    REDLOCK_ASSERT(held_count_ == 0);
    const Sent& oldest = ring_.front();
    REDLOCK_ASSERT(oldest.stamp == stamp);
    const Duration round_trip = now - oldest.at;
    ring_.pop();
    measure(round_trip);
    return {now, round_trip};
  }
  /// The connection has ended: takes the oldest request.
  [[nodiscard]] std::optional<Stamp> take() noexcept;
  /// The connection has ended: answers that were held back are forgotten. After a time-out, the
  /// next limit is the longest: a path that became slower than the limit would never be measured
  /// again (Karn's algorithm backs off for the same reason).
  void broke(bool timed_out) noexcept;

  /// An answer that does not count before the marker after it is read: a vote, or an answer that
  /// follows a vote. Until then its request counts as unanswered.
  struct HeldBack {
    PlainYes plain_yes{};
    bool has_details = false;  ///< the answer is in held_details_, not in `plain_yes`
    Arrival arrival{};
  };
  [[nodiscard]] bool has_held_back() const noexcept { return held_count_ > 0; }
  void hold_back(const Answer& answer, Instant now);
  void hold_back(const PlainYes& plain_yes, Instant now);
  /// Takes the oldest answer that was held back; its request is answered now. Null: there is none.
  /// Valid until the next hold_back().
  [[nodiscard]] const HeldBack* take_held_back() noexcept;
  /// The details of the answer that was just taken, if it has_details. Valid as long as that
  /// answer.
  [[nodiscard]] Answer take_held_details() noexcept;

  /// How long an answer may take: follows the measured round trip within the bounds of the
  /// settings.
  [[nodiscard]] Duration limit() const noexcept {
    if (!measured_) return settings_->longest_limit;
    return std::clamp(4 * (smoothed_ + 4 * variation_), settings_->shortest_limit,
                      settings_->longest_limit);
  }
  /// When the oldest answer is overdue; `never`: nothing is unanswered.
  [[nodiscard]] Instant deadline() const noexcept {
    return ring_.empty() ? never : later(ring_.front().at, limit());
  }
  /// The smoothed round trip, but at most twice the last one: waits that are counted in round trips
  /// must not stay long after a burst.
  [[nodiscard]] Duration recent_round_trip() const noexcept {
    return std::min(smoothed_, 2 * last_round_trip_);
  }

 private:
  struct Sent {
    Stamp stamp;
    Instant at;
  };
  struct HeldDetails {
    Answer answer{};  // without its texts, which follow
    std::string text{};
    std::string for_people{};
  };
  void measure(Duration round_trip) noexcept {
    // Smoothed round trip and variation as TCP keeps them (RFC 6298).
    last_round_trip_ = round_trip;
    if (!measured_) {
      measured_ = true;
      smoothed_ = round_trip;
      variation_ = round_trip / 2;
      return;
    }
    const Duration distance =
        round_trip > smoothed_ ? round_trip - smoothed_ : smoothed_ - round_trip;
    variation_ += (distance - variation_) / 4;
    smoothed_ += (round_trip - smoothed_) / 8;
  }
  HeldBack& hold_back_next(const Stamp& stamp, Instant now);

  const Settings* settings_;
  support::Ring<Sent> ring_;
  std::vector<HeldBack> held_;
  std::size_t held_count_ = 0;  // the oldest requests in ring_ whose answers are held back
  std::size_t held_taken_ = 0;
  std::vector<HeldDetails> held_details_;  // never shrinks: the texts' memory is reused
  std::size_t details_held_ = 0;
  std::size_t details_taken_ = 0;
  bool measured_ = false;
  Duration smoothed_{};
  Duration last_round_trip_{};
  Duration variation_{};
};

}  // namespace redlock::core
