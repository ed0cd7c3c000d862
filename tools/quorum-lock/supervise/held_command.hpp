#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/session/exit_code.hpp"
#include "common/session/settings.hpp"
#include "common/session/subject.hpp"
#include "common/system/signals.hpp"
#include "quorum-lock/locks/acquisition.hpp"
#include "quorum-lock/supervise/lock_status.hpp"
#include "quorum-lock/supervise/metrics_export.hpp"
#include "redlock/target.hpp"

namespace redlock::cli {

/// The part of AcquireOptions that a command line can set.
struct LockTerms {
  std::chrono::nanoseconds ttl{};
  std::chrono::nanoseconds wait{};
  bool fencing = false;
  std::string name{};
  std::optional<std::chrono::nanoseconds> orphan_ttl{};
};

/// A command and the lock that is to be held around it.
struct HeldCommand {
  Settings settings;
  Target target;
  Subject subject{};
  LockTerms terms{};
  std::optional<Adoption> adopted{};  ///< instead of acquiring the target
  std::vector<std::string> command{};
  std::string if_not_found{};  ///< follows the message if there is no such command
  std::optional<std::chrono::nanoseconds> max_hold{};
  std::optional<std::uint64_t> max_renewals{};
  std::optional<std::chrono::nanoseconds> kill_after{};
  /// The exit code if another client holds the lock until the wait is over.
  int conflict_code = code(ExitCode::taken);
  MetricsTargets metrics{};
  StatusTarget status{};
};

/// Acquires or adopts the lock, runs the command, renews the lock meanwhile, ends the command in
/// time if the lock is lost, and releases the lock. Returns the exit code of the program.
[[nodiscard]] int run_under_lock(const HeldCommand& request, const Signals& signals);

}  // namespace redlock::cli
