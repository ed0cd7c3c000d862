#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace redlock::cli {

/// When to end a command whose lock is no longer renewed.
struct LossPlan {
  std::chrono::nanoseconds term_lead;   ///< time from SIGTERM to the end of the lease's validity
  std::chrono::nanoseconds kill_after;  ///< longest time from SIGTERM to SIGKILL
  /// Least time from SIGKILL to the end of the validity. The kernel and a busy machine need time,
  /// and the group must be gone before anybody else can hold the lock.
  std::chrono::nanoseconds margin;
};

/// A requested grace (`kill_after`) moves SIGTERM to an earlier time, but never before half of the
/// TTL has run out: renewals, the first after a third of it, keep their chances.
[[nodiscard]] constexpr LossPlan plan_loss(
    std::chrono::nanoseconds ttl, std::optional<std::chrono::nanoseconds> kill_after) noexcept {
  const auto lead = std::min<std::chrono::nanoseconds>(ttl / 5, std::chrono::seconds{2});
  const auto margin = lead / 4;
  if (!kill_after) return {lead, lead - margin, margin};
  // Compared without adding: a grace may be as long as 64 bits can count.
  const auto longest = ttl / 2;
  const auto term_lead = *kill_after >= longest - margin ? longest : *kill_after + margin;
  return {term_lead, *kill_after, margin};
}

}  // namespace redlock::cli
