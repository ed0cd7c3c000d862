#pragma once

#include <cstdint>
#include <string>

#include "simulation/scenario.hpp"

namespace redlock::simulation {

/// The story of a failing seed, without everything that the failure does not need: faults, clients,
/// nodes, time. The same call gives the same story.
struct MinimalStory {
  std::uint64_t seed =
      0;  ///< of the scenario that is left; 0: the seed that was given does not fail
  std::string violation{};  ///< the broken promise, the same as before
  std::string left{};       ///< what was left, in words
  std::string story{};
  std::size_t lines = 0;
};

[[nodiscard]] MinimalStory minimal_story(std::uint64_t seed, Mutant mutant = Mutant::none);

}  // namespace redlock::simulation
