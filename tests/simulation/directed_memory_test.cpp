// Nodes that forget locks or fencing numbers, and nodes that take their role back.

#include <gtest/gtest.h>

#include <string>

#include "simulation/directed.hpp"

namespace redlock::simulation {
namespace {

TEST(Directed, AMajorityThatForgetsAtOnceHandsOneLockToTwoHolders) {
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

TEST(Directed, NodesThatForgetAndStayAwayForTheLongestTtlAreHarmless) {
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

TEST(Directed, NodesThatForgetAndComeBackAtOnceAreHarmlessUnderTheRestartGuard) {
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

TEST(Directed, NodesThatSayThatTheyGotTheirRoleBackAreHarmless) {
  const Sum sum = run(failbacks(), 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(LongDirected, NodesThatGetTheirRoleBackUnseenHandOneLockToTwoHolders) {
  Scenario s = failbacks();
  s.between_failbacks = 200 * ms;  // otherwise nearly all nodes are blank nearly always
  s.mutant = Mutant::no_tracking;
  EXPECT_NE(run(s, 400).violation.find("invariant 1"), std::string::npos);
}

TEST(Directed, FencingTokensMadeOfClocksFarAheadDoNotSurviveNodesThatForget) {
  // Here the order of tokens ends, by design: a node that forgot begins at its own clock, below the
  // numbers that clients made from theirs.
  Scenario s = guarded_restarts();
  s.node_skew = 0;
  s.client_skew = 6 * hour;
  EXPECT_NE(run(s, 50).violation.find("invariant 2"), std::string::npos);
}

TEST(Directed, FencingTokensRiseByClocksThatAreHoursApart) {
  Scenario s = calm();
  s.clients = 4;
  s.fencing_per_mille = 1000;
  s.node_skew = s.client_skew = 6 * hour;
  s.between_breaks = s.between_client_ends = 50 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(LongDirected, FencingTokensRiseWhereNumbersAreRaisedOftenAndRaisesGetLost) {
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
