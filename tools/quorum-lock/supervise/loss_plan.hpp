#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace redlock::cli {

/// When a command has to be ended whose lock is not renewed any more.
struct LossPlan {
  std::chrono::nanoseconds term_lead;   ///< SIGTERM so long before the lease's validity ends
  std::chrono::nanoseconds kill_after;  ///< SIGKILL at most so long after SIGTERM
  /// SIGKILL no later than so long before the validity ends: the kernel and a busy machine need
  /// time to carry it out, and the group must be gone before anybody else can hold the lock.
  std::chrono::nanoseconds margin;
};

/// A grace that was asked for is kept as long as the lease allows: SIGTERM comes earlier by as
/// much, but never before half of the TTL has run out, so that renewals (the first after a third of
/// it) still have their chances.
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
