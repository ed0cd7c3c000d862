#pragma once

#include <functional>

#include "common/system/platform.hpp"
#include "common/system/signals.hpp"
#include "common/system/terminal.hpp"
#include "quorum-lock/supervise/guarded_command.hpp"
#include "quorum-lock/supervise/loss_plan.hpp"
#include "quorum-lock/supervise/supervision.hpp"
#include "redlock/lease.hpp"

namespace redlock::cli {

/// A lease's deadline, and when it was read.
struct LeaseSeen {
  explicit LeaseSeen(const Lease& lease) : valid_until(lease.valid_until()) {}
  BootClock::time_point at = BootClock::now();
  BootClock::time_point valid_until;
};

/// Supervises a command under a lock: passes signals on to the command, settles shell and terminal
/// when the command stops, and carries out the decisions of Supervision.
class Supervisor {
 public:
  /// `since`: the lease before the command was started, so that no renewal is missed. Throws
  /// std::system_error.
  Supervisor(const Lease& lease, const LeaseSeen& since, std::chrono::nanoseconds ttl,
             LossPlan plan, GuardedCommand& command, const Signals& signals,
             const Terminal& terminal);

  /// Returns when the command has ended. After a loss, also waits until everything that it has
  /// started has ended, or cannot be ended. Calls `on_losing` once if the lock is being lost,
  /// before the command is signalled.
  [[nodiscard]] Ending run(const std::function<void()>& on_losing);

 private:
  void look_at_lease();
  void carry_out(Supervision::Order order);
  void take_signals();
  void pass_on(int signal);
  void take_events();
  void on_stopped(int signal);
  void on_refused(pid_t pid);
  void wait_for_something() const;
  void arm_timer();

  const Lease& lease_;
  GuardedCommand& command_;
  const Signals& signals_;
  const Terminal& terminal_;
  bool had_terminal_;  // the command was given the foreground at some time
  bool said_refused_ = false;
  bool said_losing_ = false;
  std::function<void()> on_losing_{};
  // The clock of the lease: after a suspend the command must not run for the rest of its old time.
  platform::PollTimer timer_;
  platform::Wakeup lost_;
  Supervision supervision_;
};

}  // namespace redlock::cli
