// Nodes that are of no use, servers that stop, connections that die, and intruders.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "core/votes/quorum.hpp"
#include "simulation/directed.hpp"

namespace redlock::simulation {
namespace {

/// Callers that wait for each other, and one node that is of no use.
Scenario beside_an_odd_node(Oddity odd) {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 3;
  s.slots = 2;
  s.restart_guard = s.clock_guard = true;
  s.chaos = 70'000 * ms;
  s.think = 20 * ms;
  s.shortest_ttl_ms = 20;
  s.longest_ttl_ms = 100;
  s.odd = odd;
  return s;
}

class BesideAnOddNode : public testing::TestWithParam<std::size_t> {};

TEST_P(BesideAnOddNode, NobodyConnectsToItAgainAndAgainAndAllAreServed) {
  const Sum sum = run(beside_an_odd_node(static_cast<Oddity>(GetParam())), 3);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 3'000U);
  EXPECT_LE(sum.most_connections, Scenario::most_connections);
  RecordProperty("most_connections_in_a_minute", static_cast<int>(sum.most_connections));
}

INSTANTIATE_TEST_SUITE_P(Directed, BesideAnOddNode, testing::Range<std::size_t>(1, oddities));

TEST(Directed, ANodeThatStaysAReplicaIsMetAsAMasterAgain) {
  Scenario s = beside_an_odd_node(Oddity::none);
  s.between_demotions = 5'000 * ms;
  const Sum sum = run(s, 5);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 2'000U);
}

TEST(LongDirected, SubscriptionsThatDieSilentlyAreMadeAgain) {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 3;
  s.steady = true;
  s.longest_hold = 2 * ms;
  s.shortest_ttl_ms = s.longest_ttl_ms = 10'000;
  s.chaos = 200'000 * ms;
  const std::uint64_t without = run(s, 1).grants;
  // If nobody noticed, nearly all subscriptions would be silent after a quarter of the time.
  s.between_silences = 5'000 * ms;
  const std::uint64_t with = run(s, 1).grants;
  EXPECT_GE(with, without / 2) << without;
  RecordProperty("without", static_cast<int>(without));
  RecordProperty("with", static_cast<int>(with));
}

TEST(Directed, StoppedServersThatExecuteAbandonedSetsLateBlockNobody) {
  Scenario s = calm();
  s.between_stops = 20 * ms;
  s.between_breaks = 20 * ms;
  s.late = 300 * ms;
  s.shortest_limit = 20 * ms;
  s.longest_limit = 100 * ms;
  s.clients = 4;
  EXPECT_EQ(run(s, 50).violation, "");
}

/// One resource, and one node on which an intruder changes the list of members.
Scenario intruded() {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 4;
  s.restart_guard = s.clock_guard = true;
  s.shortest_ttl_ms = 20;
  s.longest_ttl_ms = 200;
  s.chaos = 20'000 * ms;
  return s;
}

TEST(Directed, WhoCanWriteOnOneNodeNamesNoMembersAndStopsNobody) {
  for (const std::size_t nodes : {3U, 4U, 5U}) {
    Scenario s = intruded();
    s.nodes = nodes;
    s.quorum = core::majority(nodes);
    s.between_forgeries = 300 * ms;
    const Sum sum = run(s, 10);
    EXPECT_EQ(sum.violation, "") << nodes << " nodes";
    EXPECT_GE(sum.grants, 1'500U) << nodes << " nodes";
  }
}

TEST(LongDirected, ADatabaseThatIsSwappedAwayAndBackIsHarmless) {
  for (const std::size_t nodes : {3U, 4U, 5U}) {
    Scenario s = intruded();
    s.nodes = nodes;
    s.quorum = core::majority(nodes);
    s.between_swaps = 2'000 * ms;
    s.between_partitions = 50 * ms;
    s.error_per_mille = 100;
    s.longest_limit = 200 * ms;
    const Sum sum = run(s, 20);
    EXPECT_EQ(sum.violation, "") << nodes << " nodes";
    EXPECT_GE(sum.grants, 1'200U) << nodes << " nodes";
  }
}

TEST(Directed, ConnectionsThatDieSilentlyAreMadeAgain) {
  Scenario s = intruded();
  s.between_deaths = s.between_silences = 200 * ms;
  s.shortest_limit = 50 * ms;
  s.longest_limit = 200 * ms;
  const Sum sum = run(s, 20);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 3'000U);
}

/// Clients that all start at once, with nodes that answer a first contact slowly.
TEST(Directed, HundredsOfFirstContactsAtOnceAllSucceed) {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 300;
  s.chaos = 1 * ms;
  s.shortest_ttl_ms = s.longest_ttl_ms = 1'000;
  s.longest_limit = 500 * ms;
  s.greeting = 5 * ms;
  const Sum sum = run(s, 2);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 2U * 300U);
  // The client doubles its wait each time: with a fixed limit it would try for ever.
  EXPECT_LE(sum.most_connections, 6U);
}

}  // namespace
}  // namespace redlock::simulation
