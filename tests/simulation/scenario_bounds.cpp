#include <algorithm>
#include <array>
#include <limits>

#include "simulation/scenario.hpp"

// Bounds that a run must keep: waits, idle times, use, turns and requests.
namespace redlock::simulation {
namespace {

/// See length_of_turn() in lib/core/waiting/wait_queue_attempts.cpp.
constexpr True longest_turn = 4'000 * ms;

}  // namespace

True Scenario::longest_idle() const noexcept {
  // Three failing calls of the other library (8.0 s, seed 55124254548). If nodes do not notify,
  // luck decides which contender first gives back what it kept. Our clients without scripts keep
  // nothing, so the other library's clients may divide the nodes again and again; those that die
  // give back what they kept (14.3 s, seed 54628241156).
  const True failing_call = 3'300 * ms;
  const True failing_calls = !runs_scripts ? 20 : tracks && between_waiter_ends == 0 ? 3 : 6;
  if (foreign > 0 && foreign_keeps) return failing_calls * failing_call;
  // Far nodes learn late of releases: the clients that they notify divide the near nodes, and then
  // the far ones decide. That takes six round trips to them.
  const True usual = 20 * ms + 60 * round_trip() + 12 * far;
  const bool freezes = between_freezes + freeze_at > 0;
  return usual + (freezes ? longest_idle_beside(clients) : 0);
}

True Scenario::longest_idle_beside(std::size_t hanging) const noexcept {
  // Until a waiter that lives checks a node: see Schedule::until_check().
  const True until_check = std::max(500 * ms, 1'500 * ms / static_cast<True>(nodes));
  const True measured = std::min(8 * (round_trip() + 2 * far), 100 * ms);
  True reserved = 20 * ms;
  while (reserved < measured) reserved *= 2;
  // A millisecond for the servers' clocks, which count in milliseconds, and one for the standby's.
  const True each = reserved + 2 * ms + 2 * (round_trip() + 2 * far);
  return until_check + static_cast<True>(hanging) * each;
}

True Scenario::longest_wait() const noexcept {
  const auto callers = static_cast<True>(clients * slots);
  // A caller that needs several resources is queued for one after the other, at worst after all
  // other callers each time. A turn takes four round trips.
  const True turns = kind == Wanted::several ? 2 * callers * 4 * round_trip() : 0;
  // At worst, the turns of all others come first, and each of those clients hangs.
  const bool freezes = between_freezes + freeze_at > 0;
  const True hanging = freezes ? callers * longest_hold + callers * longest_idle_beside(1) : 0;
  // Readers are let in between every two writers.
  return std::max(2'000 * ms, turns) + callers * (longest_read + long_hold) + hanging +
         longest_idle();
}

True Scenario::longest_kept() const noexcept { return longest_turn + longest_idle(); }

double Scenario::least_used() const noexcept {
  if (kind != Wanted::permits || between_waiter_ends + between_freezes + freeze_at > 0) return 0;
  // A hand-over takes two round trips: a release reaches the node, which notifies the successor,
  // which asks. It takes two more if the hold is as short and nodes pass permits on in different
  // orders.
  const double hold = static_cast<double>(longest_hold) / 2;
  return 0.8 * hold / (hold + 4 * static_cast<double>(round_trip() + far));
}

std::uint32_t Scenario::most_overtaken() const noexcept {
  // Clients that may not run scripts are in no queue.
  const bool has_order = kind == Wanted::exclusive && !beside && runs_scripts && foreign == 0;
  // A client is queued once for all of its callers, which take turns.
  const auto turns = static_cast<std::uint32_t>(slots);
  // Readers get their queue positions by requests of their own, after the attempt, which may have
  // to wait for the answer of a far node.
  if (kind == Wanted::readers && !beside) return (far_nodes > 0 ? 6 : 3) * turns;
  return has_order ? turns : std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t Scenario::most_turns() const noexcept {
  // Clients that may not run scripts are in no queue. The use of permits has a bound of its own.
  if (!runs_scripts || foreign > 0 || kind == Wanted::permits || long_hold > 0) {
    return std::numeric_limits<std::uint32_t>::max();
  }
  // Owners enter again, and several resources are waited for one after the other.
  return static_cast<std::uint32_t>(6 * clients * slots + 12);
}

std::uint64_t Scenario::most_requests() const noexcept {
  // A caller of several resources waits for one at a time, and the other can refuse its next
  // attempt.
  constexpr std::array<std::uint64_t, kinds> most{10, 10, 10, 14, 20, 14};
  return most.at(static_cast<std::size_t>(kind));
}

}  // namespace redlock::simulation
