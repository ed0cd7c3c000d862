#pragma once

#include <cstdint>
#include <string>

#include "simulation/seeds.hpp"

namespace redlock::simulation {

/// The story of a failing seed, reduced to the faults, clients, nodes and time that the failure
/// needs. Equal calls give equal stories.
struct MinimalStory {
  std::uint64_t seed = 0;   ///< of the reduced scenario; 0: the given seed does not fail
  std::string violation{};  ///< the broken promise, the same as of the given seed
  std::string left{};       ///< what the scenario still has, in words
  std::string story{};
  std::size_t lines = 0;
};

[[nodiscard]] MinimalStory minimal_story(std::uint64_t seed, Mutant mutant = Mutant::none,
                                         Length length = Length::seconds);

}  // namespace redlock::simulation
