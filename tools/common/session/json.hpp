#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/session/subject.hpp"
#include "redlock/election.hpp"
#include "redlock/error.hpp"
#include "redlock/inspection.hpp"
#include "redlock/lease.hpp"
#include "redlock/report.hpp"
#include "redlock/target.hpp"
#include "redlock/token.hpp"

namespace redlock::cli {

/// One object and a line end. Field names and meaning are what scripts rely on. A release
/// asks for no time and gains none, and neither does a downgrade.
enum class RoundKind { lease, release };
[[nodiscard]] std::string round_json(std::string_view outcome, const Subject& subject,
                                     const std::optional<Token>& token, const Round& round,
                                     RoundKind kind);
/// All that `extend` and `release` need, too.
[[nodiscard]] std::string acquired_json(const Subject& subject, const Target& target,
                                        const Lease& lease);

/// The output of `watch` at each change.
[[nodiscard]] std::string sighting_json(std::string_view resource, const Inspection& inspection);
[[nodiscard]] std::string inspection_json(std::string_view resource, const Inspection& inspection);

/// One permit of a semaphore; `name` is the resource of its lock.
struct PermitInspection {
  std::string name;
  Inspection inspection;
};
/// How many of them are not free.
[[nodiscard]] std::size_t count_taken(const std::vector<PermitInspection>& permits);
/// `waiters`: clients that wait for any of them.
[[nodiscard]] std::string semaphore_json(std::string_view resource,
                                         const std::vector<PermitInspection>& permits,
                                         std::size_t waiters);

/// The leader; null if there is none. Only the leader itself knows its term.
[[nodiscard]] std::string leader_json(std::string_view election,
                                      const std::optional<Leader>& leader,
                                      std::optional<FencingToken> term);

/// The result of `break`: the tokens it deleted, for how long nobody can acquire the resource
/// (zero: anybody can at once), and what the nodes store now.
struct BreakResult {
  std::string_view outcome{};
  std::string_view resource{};
  std::vector<Token> tokens{};
  std::chrono::nanoseconds delay{0};
  Inspection inspection{};
};
[[nodiscard]] std::string break_json(const BreakResult& result);

/// The result of `break` with a pattern or a holder; either may be empty.
[[nodiscard]] std::string breaks_json(std::string_view outcome, std::string_view pattern,
                                      std::string_view holder,
                                      const std::vector<BreakResult>& results);

/// `outcome` of a failed call; none for errors that are not about the lock.
[[nodiscard]] std::optional<std::string_view> outcome_of(Errc errc) noexcept;

}  // namespace redlock::cli
