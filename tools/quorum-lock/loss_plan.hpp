#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace redlock::cli {

/// When a command has to be ended whose lock is not renewed any more.
struct LossPlan {
  std::chrono::nanoseconds term_lead;   ///< SIGTERM so long before the lease's validity ends
  std::chrono::nanoseconds kill_after;  ///< SIGKILL so long after SIGTERM
};

/// By default the command gets three quarters of the lead to end by itself, and the kernel and a
/// busy machine the last quarter to carry out the SIGKILL: the group is gone before anybody else
/// can hold the lock. A grace asked for is kept; it never costs more than half of the TTL, so that
/// renewals (the first after a third of it) still have their chances.
[[nodiscard]] constexpr LossPlan plan_loss(
    std::chrono::nanoseconds ttl, std::optional<std::chrono::nanoseconds> kill_after) noexcept {
  const auto lead = std::min<std::chrono::nanoseconds>(ttl / 5, std::chrono::seconds{2});
  const auto margin = lead / 4;
  if (!kill_after) return {lead, lead - margin};
  // Compared without adding: a grace may be as long as 64 bits can count.
  const auto longest = ttl / 2;
  const auto term_lead = *kill_after >= longest - margin ? longest : *kill_after + margin;
  return {term_lead, *kill_after};
}

}  // namespace redlock::cli
