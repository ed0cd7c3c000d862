#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulation/simulation.hpp"

namespace redlock::simulation {

/// The length of a scenario: seconds, minutes (Scenario::draw_long), or seconds without a fault
/// (Scenario::draw_steady), also with a crowd of clients (Scenario::draw_crowd); or seconds of
/// replicated nodes (Scenario::draw_replicated).
enum class Length : std::uint8_t { seconds, minutes, steady, crowd, replicated };

/// The scenario of a seed.
[[nodiscard]] Scenario scenario_of(std::uint64_t seed, Mutant mutant, Length length);

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  Mutant mutant = Mutant::none;
  Length length = Length::seconds;
};

struct Verdict {
  std::uint64_t seeds = 0;
  std::uint64_t events = 0;
  std::uint64_t grants = 0;
  std::uint64_t losses = 0;
  std::uint64_t role_changes = 0;    ///< of replicated nodes' servers
  True longest_wait = 0;             ///< without faults
  True longest_idle = 0;             ///< longest time that a wanted resource was free; no faults
  std::uint32_t most_overtaken = 0;  ///< see Progress
  std::uint64_t failing_seed = 0;    ///< the first one; 0: none
  std::string violation;
};

/// Runs seeds until one fails, and one in a hundred twice, to prove that a seed decides everything.
[[nodiscard]] Verdict run_seeds(const Seeds& seeds);

/// The result of one seed.
[[nodiscard]] Simulation::Outcome outcome_of(std::uint64_t seed);

/// The seed that runs now: a broken assertion in the core ends the program, and the handler of the
/// signal names the seed.
[[nodiscard]] std::uint64_t running_seed() noexcept;
/// The story until now, if one is recorded.
[[nodiscard]] std::string_view running_story() noexcept;

/// The end of the story of a seed, for people.
[[nodiscard]] std::string story_of(std::uint64_t seed, Mutant mutant = Mutant::none,
                                   std::size_t lines = 80);
[[nodiscard]] std::string story_of(std::uint64_t seed, Length length, std::size_t lines = 80);

}  // namespace redlock::simulation
