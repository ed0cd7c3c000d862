#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/claim/acquisition.hpp"
#include "core/claim/claim.hpp"
#include "core/claim/round.hpp"
#include "core/containers/timer_heap.hpp"
#include "core/nodes/nodes.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// What is to be looked at again: claims before the step is over, claims and acquisitions when
/// their instant has come. Decides nothing about them. Of a claim, it sets `touched`, and whoever
/// takes the claim from the list clears that. Whoever changes a claim says so here: no duty looks
/// for changes.
class Agenda {
 public:
  Agenda(const Instant& now, const Nodes& nodes) : now_(now), nodes_(nodes) {}

  // --- before the step is over ------------------------------------------------------------------
  /// What the step recorded about this claim may decide its round, or be the last it waited for.
  /// The claim is listed once, however often it is touched.
  void touch(Claim& claim);
  /// The same where most do neither: a request that left, an answer that said yes.
  void touch_if_decided(Claim& claim) {
    if (claim.unanswered == 0 || may_be_decided(claim)) touch(claim);
  }
  /// Whether judging the claim now can change something. Most answers decide nothing.
  [[nodiscard]] static bool may_be_decided(const Claim& claim) noexcept {
    switch (claim.task) {
      case Claim::Task::none:
        return claim.phase == Claim::Phase::cleaning_up && claim.unanswered == 0;
      case Claim::Task::acquire:
        return claim.round.verdict() != Verdict::pending;
      case Claim::Task::release:
        return claim.round.verdict() != Verdict::pending || claim.round.denials() > 0;
      default:
        return true;
    }
  }
  /// Claims that were touched, by index. May grow while it is gone through.
  [[nodiscard]] std::vector<std::uint32_t>& touched() noexcept { return touched_; }

  // --- when an instant has come -----------------------------------------------------------------
  /// The claim's phase, task or deadlines have changed, or what nodes are owed of it: when it is
  /// next looked at follows from its state. Of a lease: for the renewal, the warning or its end,
  /// whatever comes first.
  void retime(Claim& claim);
  /// Nothing of the claim is due any more.
  void forget(const Claim& claim) { timers_.set(timer_of(claim), std::nullopt); }
  /// When the acquisition is next looked at; none: not any more.
  void set(const Acquisition& acquisition, std::optional<Instant> at) {
    timers_.set(TimerHeap::key(TimerHeap::Kind::acquisition, acquisition.index), at);
  }
  /// For the engine, which takes out what is due, and for Observers, which enters observations.
  [[nodiscard]] TimerHeap& timers() noexcept { return timers_; }
  [[nodiscard]] const TimerHeap& timers() const noexcept { return timers_; }

 private:
  [[nodiscard]] static std::uint32_t timer_of(const Claim& claim) noexcept {
    return TimerHeap::key(TimerHeap::Kind::claim, claim.index);
  }

  const Instant& now_;
  const Nodes& nodes_;
  TimerHeap timers_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace redlock::core
