#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "quorum-lock/supervise/loss_plan.hpp"
#include "redlock/clock.hpp"

namespace redlock::cli {

/// How a command under a lock ended, and what is known about the cause.
struct Ending {
  std::optional<int> wait_status{};  ///< none: the command still runs
  enum class Lock { kept, lost } lock = Lock::kept;
  /// The last signal that was sent because of the loss.
  enum class Sent { nothing, terminate, kill } sent = Sent::nothing;
  /// Whether the command, or anything that it has started, still runs.
  enum class Remains { none, running, beyond_our_rights } remains = Remains::running;
  std::uint64_t renewals = 0;  ///< renewals that were seen
  /// Lost: the time since the last renewal, or since the acquisition.
  std::chrono::nanoseconds silence{0};
  std::chrono::nanoseconds shortened{0};  ///< the time by which the deadline came nearer since then
  /// For how long this process did not run, at a stretch, since then: it was stopped, or the
  /// machine slept.
  std::chrono::nanoseconds stopped{0};
};

/// Decides which signal a command under a lock gets, and when. Uses neither clock nor process: the
/// caller passes the events and their instants.
class Supervision {
 public:
  using Instant = BootClock::time_point;

  /// How long after SIGKILL a process may take to die. A process that is still there then is stuck
  /// in the kernel, or cannot be signalled: a longer wait would not end it.
  static constexpr std::chrono::seconds death_limit{2};

  struct LeaseView {
    Instant valid_until;
    enum class State { live, over } state;
  };
  enum class Order { none, terminate, kill };

  Supervision(LossPlan plan, std::chrono::nanoseconds ttl, Instant now, Instant valid_until);

  /// The order to carry out now. To be called at `next_look()` at the latest, and after each event.
  [[nodiscard]] Order look(Instant now, LeaseView lease);

  void command_ended(int wait_status) noexcept { ending_.wait_status = wait_status; }
  /// To be called when neither the command nor anything that it started runs.
  void nothing_left() noexcept { ending_.remains = Ending::Remains::none; }
  /// A process of the command runs as another user and cannot be signalled.
  void signal_refused() noexcept;

  [[nodiscard]] bool finished(Instant now) const noexcept;
  [[nodiscard]] Instant next_look(Instant now) const noexcept;
  [[nodiscard]] bool is_losing() const noexcept { return ending_.lock == Ending::Lock::lost; }
  [[nodiscard]] const Ending& ending() const noexcept { return ending_; }

 private:
  enum class Phase { running, terminating, killed };

  void follow(Instant now, Instant valid_until);
  [[nodiscard]] Order lose(Instant now, Order order);
  [[nodiscard]] Order look_while_running(Instant now, LeaseView lease);
  [[nodiscard]] Instant kill_at() const noexcept;
  [[nodiscard]] bool gone() const noexcept;

  LossPlan plan_;
  std::chrono::nanoseconds look_interval_;
  Phase phase_ = Phase::running;
  Instant valid_until_;
  Instant renewed_at_;
  Instant looked_at_;
  Instant terminated_at_{};
  Instant give_up_at_{};
  Ending ending_;
};

}  // namespace redlock::cli
