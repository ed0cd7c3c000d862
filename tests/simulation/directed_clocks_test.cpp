// Clocks that step, stand still or run at the edge of the allowance; holders that pause; and
// evictions, which clients notice as late as a step of a clock.

#include <gtest/gtest.h>

#include <string>

#include "simulation/directed.hpp"

namespace redlock::simulation {
namespace {

/// Clocks that step by far more than can hide between two readings, in a network without faults.
Scenario stepping_clocks() {
  Scenario s = calm();
  s.clients = 4;
  s.shortest_ttl_ms = 2'000;
  s.longest_ttl_ms = 5'000;
  s.chaos = 8'000 * ms;
  s.between_clock_steps = 1'500 * ms;
  s.shortest_step = 200 * ms;
  s.longest_step = 5'000 * ms;
  s.clock_guard = true;
  return s;
}

TEST(Directed, AHolderIsToldOfAnEvictionWithinTheIntervalOfTheReadings) {
  Scenario s = stepping_clocks();
  s.between_clock_steps = 0;
  s.nodes = 3;
  s.quorum = 2;
  s.restart_guard = true;
  s.between_evictions = 6'000 * ms;
  s.think = 3'000 * ms;
  s.chaos = 60'000 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(Directed, AHolderIsToldOfAnEvictionAsSoonIfOthersOfItsClientHaveClocksRead) {
  // Clocks are read before each attempt, evictions once per second.
  Scenario s = stepping_clocks();
  s.between_clock_steps = 0;
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 2;
  s.slots = 3;
  s.resources = 2;
  s.restart_guard = true;
  s.between_evictions = 6'000 * ms;
  s.think = 1'500 * ms;
  s.chaos = 60'000 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

/// Evictions before the beginning, whose number an operator resets, and replicas that attach.
Scenario reset_counters() {
  Scenario s = stepping_clocks();
  s.between_clock_steps = 0;
  s.nodes = 3;
  s.quorum = 2;
  s.restart_guard = true;
  s.between_counter_resets = 1'000 * ms;
  s.between_copies = 500 * ms;
  s.think = 3'000 * ms;
  s.chaos = 60'000 * ms;
  return s;
}

TEST(Directed, CountersThatAnOperatorResetsAndReplicasThatAttachCostNoNodeItsVote) {
  const Sum sum = run(reset_counters(), 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(Directed, AHolderIsToldOfEvictionsAmongCountersThatAnOperatorResets) {
  Scenario s = reset_counters();
  s.between_evictions = 3'000 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(Directed, AHolderIsToldOfAClockThatSteppedWithinTheIntervalOfTheReadings) {
  const Sum sum = run(stepping_clocks(), 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(Directed, AVoteBehindAStepCountsForNobodyEvenWhereTheHolderIsToldNothing) {
  Scenario s = stepping_clocks();
  s.judged_by_votes = true;
  s.shortest_step = 300 * ms;
  s.longest_step = 350 * ms;
  const Sum sum = run(s, 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

/// Clients' machines and their clocks stand still while the nodes go on.
Scenario standstills() {
  Scenario s = stepping_clocks();
  s.between_clock_steps = 0;
  s.between_standstills = 1'500 * ms;
  s.nodes = 3;
  s.quorum = 2;
  s.chaos = 20'000 * ms;
  return s;
}

TEST(Directed, AMachineThatStoodStillCostsNoNodeItsVoteAndNoLeaseItsExclusion) {
  const Sum sum = run(standstills(), 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 800U);
}

TEST(Directed, AClockThatLeapsWhileMachinesStandStillIsNoticedAllTheSame) {
  Scenario s = standstills();
  s.between_clock_steps = 1'500 * ms;
  const Sum sum = run(s, 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 500U);
}

TEST(Directed, WithoutTheClockGuardAClockThatSteppedHandsOneLockToTwoHolders) {
  Scenario s = stepping_clocks();
  s.mutant = Mutant::no_clock_guard;
  EXPECT_NE(run(s, 50).violation.find("invariant 1"), std::string::npos);
}

TEST(Directed, HoldersThatPausePastTheirDeadlineActOnNothing) {
  Scenario s = calm();
  s.between_pauses = 10 * ms;
  s.last_millisecond = true;
  s.shortest_ttl_ms = 10;
  s.longest_ttl_ms = 30;
  s.clients = 4;
  EXPECT_EQ(run(s, 50).violation, "");
}

TEST(Directed, ClocksAtTheEdgeOfTheAllowanceAreSafe) {
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
