#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "simulation/simulation.hpp"

namespace redlock::simulation {

/// No faults, until a test adds its own.
inline Scenario calm() {
  Scenario s;
  s.tail_per_mille = 0;
  s.chaos = 1000 * ms;
  return s;
}

struct Sum {
  std::string violation;
  std::uint64_t grants = 0;
  std::uint64_t violations = 0;
  std::size_t most_connections = 0;
};
inline Sum run(const Scenario& scenario, std::uint64_t seeds) {
  Sum sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto outcome = Simulation(scenario, seed).run();
    sum.grants += outcome.grants;
    sum.most_connections = std::max(sum.most_connections, outcome.most_connections);
    if (outcome.violation.empty()) continue;
    ++sum.violations;
    if (sum.violation.empty()) sum.violation = outcome.violation;
  }
  return sum;
}

}  // namespace redlock::simulation
