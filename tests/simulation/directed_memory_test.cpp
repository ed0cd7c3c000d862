// Nodes that forget locks or fencing numbers, and nodes that take their role back.

#include <gtest/gtest.h>

#include <string>

#include "simulation/directed.hpp"

namespace redlock::simulation {
namespace {

TEST(Directed, a_majority_that_forgets_at_once_hands_one_lock_to_two_holders) {
  // The case for which the restart guard exists: without the guard the algorithm breaks, and the
  // checker must see it.
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

/// Nodes that crash often and come back at once, empty or with saved data.
Scenario guarded_restarts() {
  Scenario s = calm();
  s.between_crashes = 20 * ms;
  s.data_loss_per_mille = 1000;
  s.snapshot_per_mille = 500;
  s.between_saves = 30 * ms;
  s.longest_ttl_ms = 200;
  s.clients = 4;
  s.restart_guard = true;
  s.fencing_per_mille = 1000;
  return s;
}

TEST(Directed, nodes_that_forget_and_come_back_at_once_are_harmless_under_the_restart_guard) {
  Scenario s = guarded_restarts();
  s.node_skew = s.client_skew = 90 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

/// Nodes that take their role back from a replica that missed the last locks. Their marker is
/// unchanged, and their connections stay.
Scenario failbacks() {
  Scenario s = calm();
  s.between_failbacks = 20 * ms;
  s.between_saves = 20 * ms;
  s.longest_ttl_ms = 200;
  s.clients = 4;
  s.restart_guard = true;
  return s;
}

TEST(Directed, nodes_that_say_that_they_got_their_role_back_are_harmless) {
  const Sum sum = run(failbacks(), 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(LongDirected, nodes_that_get_their_role_back_unseen_hand_one_lock_to_two_holders) {
  Scenario s = failbacks();
  s.between_failbacks = 200 * ms;  // otherwise nearly all nodes are blank nearly always
  s.mutant = Mutant::no_tracking;
  EXPECT_NE(run(s, 400).violation.find("invariant 1"), std::string::npos);
}

TEST(Directed, fencing_tokens_made_of_clocks_far_ahead_do_not_survive_nodes_that_forget) {
  // Here the order of tokens ends, by design: a node that forgot begins at its own clock, below the
  // numbers that clients made from theirs.
  Scenario s = guarded_restarts();
  s.node_skew = 0;
  s.client_skew = 6 * hour;
  EXPECT_NE(run(s, 50).violation.find("invariant 2"), std::string::npos);
}

TEST(Directed, fencing_tokens_rise_by_clocks_that_are_hours_apart) {
  Scenario s = calm();
  s.clients = 4;
  s.fencing_per_mille = 1000;
  s.node_skew = s.client_skew = 6 * hour;
  s.between_breaks = s.between_client_ends = 50 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(LongDirected, fencing_tokens_rise_where_numbers_are_raised_often_and_raises_get_lost) {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 4;
  s.fencing_per_mille = 1000;
  s.client_skew = 6 * hour;
  s.tail_per_mille = 200;
  s.between_partitions = 4 * ms;
  s.between_client_ends = 100 * ms;
  s.shortest_limit = 5 * ms;
  s.longest_limit = 20 * ms;
  s.shortest_ttl_ms = 10;
  s.longest_ttl_ms = 40;
  s.think = 1 * ms;
  EXPECT_EQ(run(s, 400).violation, "");
}

}  // namespace
}  // namespace redlock::simulation
