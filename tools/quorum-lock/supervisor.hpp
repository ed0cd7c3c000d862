#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "quorum-lock/child_process.hpp"
#include "quorum-lock/descriptor.hpp"
#include "quorum-lock/loss_plan.hpp"
#include "quorum-lock/signals.hpp"
#include "quorum-lock/terminal.hpp"
#include "redlock/lease.hpp"

namespace redlock::cli {

/// How a command under a lock ended.
struct Ending {
  int wait_status = 0;
  enum class Lock { kept, lost } lock = Lock::kept;
  std::uint64_t renewals = 0;           ///< that were seen
  std::chrono::nanoseconds silence{0};  ///< lost: since the last renewal or the acquisition
  int last_signal = 0;                  ///< lost: the last one that the group was sent
};

/// Lives with a command under a lock: passes signals on, keeps shell and terminal right when it
/// stops, and ends its process group in time when the lease is not renewed any more.
class Supervisor {
 public:
  /// Throws std::system_error.
  Supervisor(const Lease& lease, std::chrono::nanoseconds ttl, LossPlan plan,
             const ChildProcess& child, const Signals& signals, const Terminal& terminal);

  /// Returns when the command has ended and, after a loss, nothing of its group runs any more.
  [[nodiscard]] Ending run();

 private:
  enum class Phase { running, terminating, killed };

  void look_at_lease();
  void begin_termination(BootClock::time_point now);
  void kill_group(BootClock::time_point now);
  void take_signals();
  void pass_on(int signal);
  void look_at_child();
  void on_child_stopped(int signal);
  void reap_orphans() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] BootClock::time_point next_deadline() const;
  void arm_timer() const;

  const Lease& lease_;
  const LossPlan plan_;
  const std::chrono::nanoseconds ttl_;
  const ChildProcess& child_;
  const Signals& signals_;
  const Terminal& terminal_;
  bool had_terminal_;  // the command was given the foreground at some time
  Descriptor timer_;
  Descriptor lost_;

  Phase phase_ = Phase::running;
  BootClock::time_point valid_until_;
  BootClock::time_point renewed_at_;
  BootClock::time_point kill_at_{};
  BootClock::time_point give_up_at_{};
  std::optional<int> child_status_;
  Ending ending_;
};

}  // namespace redlock::cli
