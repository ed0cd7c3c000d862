#include <gtest/gtest.h>

#include "core/quorum.hpp"
#include "simulation/simulation.hpp"

namespace redlock::simulation {
namespace {

/// No faults at all, until a test adds its own.
Scenario calm() {
  Scenario s;
  s.tail_per_mille = 0;
  s.chaos = 1000 * ms;
  return s;
}

struct Sum {
  std::string violation;
  std::uint64_t grants = 0;
  std::uint64_t violations = 0;
};
Sum run(const Scenario& scenario, std::uint64_t seeds) {
  Sum sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto outcome = Simulation(scenario, seed).run();
    sum.grants += outcome.grants;
    if (outcome.violation.empty()) continue;
    ++sum.violations;
    if (sum.violation.empty()) sum.violation = outcome.violation;
  }
  return sum;
}

TEST(Directed, without_faults_every_number_of_nodes_serves_everybody) {
  for (std::size_t nodes = 1; nodes <= 9; ++nodes) {
    Scenario s = calm();
    s.nodes = nodes;
    s.quorum = core::majority(nodes);
    s.clients = 4;
    const Sum sum = run(s, 10);
    EXPECT_EQ(sum.violation, "") << nodes << " nodes";
    EXPECT_GE(sum.grants, 40U);
  }
}

TEST(Directed, a_majority_that_forgets_at_once_hands_one_lock_to_two_holders) {
  // What the restart guard is for: without it, this is how the algorithm breaks, and the checker
  // must see it.
  Scenario s = calm();
  s.between_crashes = 20 * ms;
  s.data_loss_per_mille = 1000;
  s.longest_ttl_ms = 500;
  s.clients = 4;
  s.mutant = Mutant::forget_at_once;
  EXPECT_NE(run(s, 20).violation.find("invariant 1"), std::string::npos);
}

TEST(Directed, nodes_that_forget_and_stay_away_for_the_longest_ttl_are_harmless) {
  Scenario s = calm();
  s.between_crashes = 20 * ms;
  s.data_loss_per_mille = 1000;
  s.longest_ttl_ms = 200;
  s.clients = 4;
  EXPECT_EQ(run(s, 50).violation, "");
}

TEST(Directed, stopped_servers_that_execute_abandoned_sets_late_block_nobody) {
  Scenario s = calm();
  s.between_stops = 20 * ms;
  s.between_breaks = 20 * ms;
  s.late = 300 * ms;
  s.shortest_limit = 20 * ms;
  s.longest_limit = 100 * ms;
  s.clients = 4;
  EXPECT_EQ(run(s, 50).violation, "");
}

TEST(Directed, holders_that_pause_past_their_deadline_act_on_nothing) {
  Scenario s = calm();
  s.between_pauses = 10 * ms;
  s.last_millisecond = true;
  s.shortest_ttl_ms = 10;
  s.longest_ttl_ms = 30;
  s.clients = 4;
  EXPECT_EQ(run(s, 50).violation, "");
}

TEST(Directed, clocks_at_the_edge_of_the_allowance_are_safe) {
  Scenario s = calm();
  s.server_ppm = s.client_ppm = 4'900;
  s.extreme_rates = true;
  s.last_millisecond = true;
  s.shortest_ttl_ms = 200;
  s.longest_ttl_ms = 3000;
  s.chaos = 10'000 * ms;
  s.clients = 4;
  EXPECT_EQ(run(s, 30).violation, "");
}

}  // namespace
}  // namespace redlock::simulation
