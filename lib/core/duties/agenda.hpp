#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/claim/claim.hpp"
#include "core/containers/timer_heap.hpp"
#include "core/nodes/nodes.hpp"
#include "core/vocabulary/time.hpp"
#include "core/votes/round.hpp"
#include "core/waiting/acquisition.hpp"

namespace redlock::core {

/// Lists the claims to judge before the step is over, and the instants at which claims and
/// acquisitions are due. Decides nothing about them. Sets `Claim::touched`; the engine clears it
/// when it takes the claim from the list. A duty that changes a claim reports the change here: no
/// duty looks for changes.
class Agenda {
 public:
  Agenda(const Instant& now, const Nodes& nodes) : now_(now), nodes_(nodes) {}

  // --- before the step is over ------------------------------------------------------------------
  /// Lists the claim: what the step recorded may decide its round, or be the last answer that it
  /// waits for. A claim is listed once, however often it is touched.
  void touch(Claim& claim);
  /// Lists the claim only if its round may be decided or nothing is unanswered. For events that
  /// rarely decide a round, such as a request that left or a plain yes.
  void touch_if_decided(Claim& claim) {
    if (claim.unanswered == 0 || may_be_decided(claim)) touch(claim);
  }
  /// Whether judging the claim now can change something. Most answers decide nothing.
  [[nodiscard]] static bool may_be_decided(const Claim& claim) noexcept {
    switch (claim.task) {
      case Claim::Task::none:
        return claim.phase == Claim::Phase::cleaning_up && claim.unanswered == 0;
      case Claim::Task::acquire:
        return claim.round->verdict() != Verdict::pending;
      case Claim::Task::release:
        return claim.round->verdict() != Verdict::pending || claim.round->denials() > 0;
      default:
        return true;
    }
  }
  /// Indices of the touched claims. The list can grow while it is iterated.
  [[nodiscard]] std::vector<std::uint32_t>& touched() noexcept { return touched_; }

  // --- when an instant has come -----------------------------------------------------------------
  /// Computes when the claim is next due, after a change of its phase, its task, its deadlines or
  /// its owed releases. A lease is due for its renewal, its warning or its end, whichever comes
  /// first.
  void retime(Claim& claim);
  /// Cancels the claim's timer.
  void forget(const Claim& claim) { timers_.set(timer_of(claim), std::nullopt); }
  /// Sets when the acquisition is next due; none: cancels its timer.
  void set(const Acquisition& acquisition, std::optional<Instant> at) {
    timers_.set(TimerHeap::key(TimerHeap::Kind::acquisition, acquisition.index), at);
  }
  /// For the engine, which takes due timers out, and for Observers, which enters observations.
  [[nodiscard]] TimerHeap& timers() noexcept { return timers_; }
  [[nodiscard]] const TimerHeap& timers() const noexcept { return timers_; }

 private:
  static constexpr By<Agenda> me{};

  [[nodiscard]] static std::uint32_t timer_of(const Claim& claim) noexcept {
    return TimerHeap::key(TimerHeap::Kind::claim, claim.index);
  }

  const Instant& now_;
  const Nodes& nodes_;
  TimerHeap timers_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace redlock::core
