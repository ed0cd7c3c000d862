#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/claim/quorum.hpp"
#include "simulation/simulation.hpp"

namespace redlock::simulation {
namespace {

/// No faults, until a test adds its own.
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
  std::size_t most_connections = 0;
};
Sum run(const Scenario& scenario, std::uint64_t seeds) {
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

TEST(Directed, nodes_that_get_their_role_back_unseen_hand_one_lock_to_two_holders) {
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

TEST(Directed, fencing_tokens_rise_where_numbers_are_raised_often_and_raises_get_lost) {
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

TEST(Directed, nobody_gets_a_resource_while_the_delay_of_a_broken_lock_lasts) {
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Scenario s = Scenario::draw(seed);
    // A delay ends with its keys: earlier if clocks step forward. Then waits have no bound.
    const bool clocks_step = s.between_clock_steps > 0 || s.between_standstills > 0;
    if (clocks_step || s.any_clocks || s.steady) continue;
    s.breaks_per_mille = 500;
    const auto outcome = Simulation(s, 1).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    broken += outcome.kept_out;
  }
  EXPECT_GE(broken, 200U);
}

TEST(Directed, callers_that_wait_do_not_get_it_during_a_delay_and_get_it_afterwards) {
  Scenario s = calm();
  s.clients = 4;
  s.breaks_per_mille = 700;
  std::uint64_t broken = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto outcome = Simulation(s, 1).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    broken += outcome.kept_out;
  }
  EXPECT_GE(broken, 30U);
}

TEST(Directed, no_writer_is_beside_a_lease_that_was_downgraded) {
  std::uint64_t downgrades = 0;
  std::uint64_t readers = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Scenario s = Scenario::draw(seed);
    // Clients that may not run scripts cannot take a reader's lock.
    if (s.kind != Wanted::exclusive || !s.runs_scripts || s.foreign > 0) continue;
    s.kind = Wanted::readers;
    s.readers_per_mille = 400;
    s.downgrades_per_mille = 500;
    const auto outcome = Simulation(s, 1).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    downgrades += outcome.downgrades;
    readers += outcome.grants_by_group.at(1);
  }
  EXPECT_GE(downgrades, 500U);
  EXPECT_GE(readers, 1'000U);
}

TEST(Directed, readers_that_wait_come_in_when_a_writer_is_downgraded) {
  std::uint64_t downgrades = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Scenario s = Scenario::draw_crowd(6 * seed + 1);
    ASSERT_EQ(s.kind, Wanted::readers);
    s.clients = std::min<std::size_t>(s.clients, 8);
    s.downgrades_per_mille = 700;
    // A resource that is open to readers is not free for long while one of them waits: see
    // Progress.
    const auto outcome = Simulation(s, seed).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    downgrades += outcome.downgrades;
  }
  EXPECT_GE(downgrades, 200U);
}

TEST(Directed, a_client_that_has_just_begun_extends_and_releases_what_it_is_handed) {
  Scenario s = calm();
  s.clients = 4;
  s.newcomer = true;
  s.restart_guard = s.clock_guard = true;
  s.shortest_ttl_ms = 500;
  for (std::size_t nodes = 1; nodes <= 5; ++nodes) {
    s.nodes = nodes;
    s.quorum = core::majority(nodes);
    EXPECT_EQ(run(s, 40).violation, "") << nodes << " nodes";
  }
}

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

TEST_P(BesideAnOddNode, nobody_connects_to_it_again_and_again_and_all_are_served) {
  const Sum sum = run(beside_an_odd_node(static_cast<Oddity>(GetParam())), 3);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 3'000U);
  EXPECT_LE(sum.most_connections, Scenario::most_connections);
  RecordProperty("most_connections_in_a_minute", static_cast<int>(sum.most_connections));
}

INSTANTIATE_TEST_SUITE_P(Directed, BesideAnOddNode, testing::Range<std::size_t>(1, oddities));

TEST(Directed, a_node_that_stays_a_replica_is_met_as_a_master_again) {
  Scenario s = beside_an_odd_node(Oddity::none);
  s.between_demotions = 5'000 * ms;
  const Sum sum = run(s, 5);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 2'000U);
}

TEST(LongDirected, subscriptions_that_die_silently_are_made_again) {
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

/// Clients that observe a resource; half of its leases expire.
Scenario watched() {
  Scenario s = calm();
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 3;
  s.tracks = s.watches = true;
  s.shortest_ttl_ms = 100;
  s.longest_ttl_ms = 300;
  s.think = 300 * ms;
  s.chaos = 20'000 * ms;
  return s;
}

TEST(Directed, who_watches_sees_every_change_also_behind_leases_that_expire) {
  const Sum sum = run(watched(), 40);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 2'000U);
}

TEST(Directed, who_watches_sees_every_change_beside_other_libraries_clients) {
  Scenario s = watched();
  s.foreign = 2;
  EXPECT_EQ(run(s, 40).violation, "");
}

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

TEST(Directed, a_holder_is_told_of_an_eviction_within_the_interval_of_the_readings) {
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

TEST(Directed, a_holder_is_told_of_an_eviction_as_soon_if_others_of_its_client_have_clocks_read) {
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

TEST(Directed, a_holder_is_told_of_a_clock_that_stepped_within_the_interval_of_the_readings) {
  const Sum sum = run(stepping_clocks(), 50);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 250U);
}

TEST(Directed, a_vote_behind_a_step_counts_for_nobody_even_where_the_holder_is_told_nothing) {
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

TEST(Directed, a_machine_that_stood_still_costs_no_node_its_vote_and_no_lease_its_exclusion) {
  const Sum sum = run(standstills(), 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 800U);
}

TEST(Directed, a_clock_that_leaps_while_machines_stand_still_is_noticed_all_the_same) {
  Scenario s = standstills();
  s.between_clock_steps = 1'500 * ms;
  const Sum sum = run(s, 100);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 500U);
}

TEST(Directed, without_the_clock_guard_a_clock_that_stepped_hands_one_lock_to_two_holders) {
  Scenario s = stepping_clocks();
  s.mutant = Mutant::no_clock_guard;
  EXPECT_NE(run(s, 50).violation.find("invariant 1"), std::string::npos);
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

/// How callers use the permits of a semaphore that all of them want again and again.
struct Use {
  std::string violation;
  double used = 0;
  double shares = 0;    ///< the most grants of a client, divided by the fewest of a client
  double requests = 0;  ///< requests to a node per grant
};
Use use(std::size_t permits, std::size_t clients, std::size_t callers, True hold, True one_way,
        True far = 0) {
  Scenario s = calm();
  s.steady = s.all_wait = true;
  s.kind = Wanted::permits;
  s.resources = permits;
  s.clients = clients;
  s.slots = callers;
  s.nodes = 3;
  s.quorum = 2;
  s.fastest = one_way;
  s.slowest = 2 * one_way;
  s.far_nodes = 1;
  s.far = far;
  s.longest_limit = 1'000 * ms;
  s.shortest_ttl_ms = s.longest_ttl_ms = 20'000;
  s.longest_hold = hold;
  s.think = 1 * ms;
  s.chaos = 15'000 * ms;  // holds differ, and so does the share of each client
  const auto outcome = Simulation(s, 1).run();
  std::map<std::uint32_t, std::uint64_t> grants;
  for (const auto& [caller, count] : outcome.grants_of_callers) grants[caller / 16] += count;
  const auto [least, most] =
      std::minmax_element(grants.begin(), grants.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  return {outcome.violation, outcome.used,
          static_cast<double>(most->second) / static_cast<double>(least->second),
          static_cast<double>(outcome.requests) / static_cast<double>(3 * outcome.grants)};
}

TEST(Directed, a_semaphore_of_far_nodes_is_used_while_callers_wait) {
  for (const std::size_t clients : {2U, 4U, 16U}) {
    const Use use_of_it = use(16, clients, 16, 200 * ms, 10 * ms);
    EXPECT_EQ(use_of_it.violation, "") << clients << " clients";
    EXPECT_LE(use_of_it.shares, 1.3) << clients << " clients";
  }
}

TEST(Directed, a_semaphore_beside_a_far_node_is_used_while_callers_wait) {
  struct Case {
    std::size_t permits, clients, callers;
  };
  for (const Case& one :
       std::array<Case, 4>{{{4, 16, 1}, {16, 64, 1}, {64, 100, 1}, {16, 2, 16}}}) {
    const Use use_of_it = use(one.permits, one.clients, one.callers, 200 * ms, 200'000, 5 * ms);
    const std::string name = std::to_string(one.permits) + " permits, " +
                             std::to_string(one.clients) + " clients with " +
                             std::to_string(one.callers) + " callers";
    EXPECT_EQ(use_of_it.violation, "") << name;
    // With near nodes it is 0.97; with one node 20 ms away and 16 permits, 0.63.
    EXPECT_GE(use_of_it.used, 0.85) << name;
    EXPECT_LE(use_of_it.shares, 1.3) << name;
    EXPECT_LE(use_of_it.requests, 20) << name;
  }
}

TEST(LongDirected, a_semaphore_is_used_while_callers_wait) {
  struct Case {
    std::size_t permits, clients, callers;
    True hold;
  };
  for (const Case& one : std::array<Case, 10>{{{4, 16, 1, 200 * ms},
                                               {16, 32, 1, 200 * ms},
                                               {16, 64, 1, 200 * ms},
                                               {16, 64, 1, 20 * ms},
                                               {17, 64, 1, 200 * ms},
                                               {64, 100, 1, 200 * ms},
                                               {64, 200, 1, 200 * ms},
                                               {4, 2, 16, 200 * ms},
                                               {16, 2, 16, 200 * ms},
                                               {64, 20, 8, 200 * ms}}}) {
    const Use use_of_it = use(one.permits, one.clients, one.callers, one.hold, 200'000);
    const std::string name = std::to_string(one.permits) + " permits, " +
                             std::to_string(one.clients) + " clients with " +
                             std::to_string(one.callers) + " callers";
    EXPECT_EQ(use_of_it.violation, "") << name;
    EXPECT_GE(use_of_it.used, one.hold > 100 * ms ? 0.97 : 0.8) << name;
    EXPECT_LE(use_of_it.shares, 1.3) << name;
    EXPECT_LE(use_of_it.requests, 20) << name;
  }
}

/// Clients that lock again and again without a pause: the first want one kind, the rest another.
/// Each wants one resource all the time, or both.
Scenario saturated(Wanted kind, Wanted beside, std::size_t clients, std::size_t first) {
  Scenario s = calm();
  s.steady = s.all_wait = true;
  s.own_resource = true;
  s.first_clients = first;
  s.kind = kind;
  s.beside = beside;
  s.clients = clients;
  s.nodes = 3;
  s.quorum = 2;
  s.fastest = 200'000;
  s.slowest = 400'000;
  s.longest_limit = 1'000 * ms;
  s.shortest_ttl_ms = s.longest_ttl_ms = 20'000;
  s.longest_hold = 4 * ms;
  s.longest_interval_ms = 4;
  s.think = 1;
  s.several_per_mille = 1000;
  const bool both = kind == Wanted::several || beside == Wanted::several;
  s.resources = both ? 2 : 1;
  s.chaos = 3'000 * ms;
  return s;
}

constexpr std::array kinds_of_one_resource{Wanted::exclusive, Wanted::readers, Wanted::owners,
                                           Wanted::several, Wanted::interval};

TEST(Directed, callers_of_one_client_do_not_take_what_is_kept_for_another_of_its_callers) {
  for (const std::size_t clients : {1U, 2U, 3U}) {
    Scenario s = saturated(Wanted::several, Wanted::several, clients, clients);
    s.slots = 4;
    s.own_resource = false;
    s.several_per_mille = 250;
    EXPECT_EQ(run(s, 5).violation, "") << clients << " clients";
  }
}

TEST(LongDirected, whoever_waits_for_what_others_lock_again_and_again_has_a_turn) {
  constexpr std::array<std::size_t, 4> crowds{3, 4, 8, 17};
  for (const Wanted one : kinds_of_one_resource) {
    for (const Wanted other : kinds_of_one_resource) {
      for (const std::size_t clients : crowds) {
        // The first kind has one client, or half of the clients.
        const std::size_t first = clients % 2 == 0 ? clients / 2 : 1;
        const Sum sum = run(saturated(one, other, clients, first), 2);
        EXPECT_EQ(sum.violation, "")
            << first << " of " << clients << " clients want kind " << static_cast<int>(one)
            << " beside kind " << static_cast<int>(other);
      }
    }
  }
}

/// One of three nodes is as far as another continent; the other two are the quorum that counts.
Scenario beside_a_far_node(Wanted kind) {
  Scenario s = saturated(kind, kind, 8, 8);
  s.far_nodes = 1;
  s.far = 20 * ms;
  s.chaos = 10'000 * ms;
  return s;
}

TEST(LongDirected, a_far_node_beside_a_near_quorum_costs_nobody_his_turn) {
  for (const Wanted kind : kinds_of_one_resource) {
    Scenario s = beside_a_far_node(kind);
    EXPECT_EQ(run(s, 3).violation, "") << static_cast<int>(kind);
    s.between_waiter_ends = 100 * ms;
    s.all_wait = false;
    EXPECT_EQ(run(s, 3).violation, "") << static_cast<int>(kind) << ", and waiters die";
    RecordProperty("far", static_cast<int>(run(s, 1).grants));
    s.far = 0;
    RecordProperty("near", static_cast<int>(run(s, 1).grants));
  }
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

TEST(Directed, who_can_write_on_one_node_names_no_members_and_stops_nobody) {
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

TEST(LongDirected, a_database_that_is_swapped_away_and_back_is_harmless) {
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

TEST(Directed, connections_that_die_silently_are_made_again) {
  Scenario s = intruded();
  s.between_deaths = s.between_silences = 200 * ms;
  s.shortest_limit = 50 * ms;
  s.longest_limit = 200 * ms;
  const Sum sum = run(s, 20);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 3'000U);
}

/// Clients that all start at once, with nodes that answer a first contact slowly.
TEST(Directed, hundreds_of_first_contacts_at_once_all_succeed) {
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

TEST(Directed, more_than_64_readers_wait_for_a_writer_and_share_what_it_leaves) {
  Scenario s = saturated(Wanted::readers, Wanted::readers, 80, 80);
  s.chaos = 2'000 * ms;
  s.readers_per_mille = 950;
  s.think = 1 * ms;
  EXPECT_EQ(run(s, 2).violation, "");
}

TEST(Directed, more_than_64_clients_that_died_as_they_waited_keep_nobody_waiting) {
  Scenario s = saturated(Wanted::exclusive, Wanted::exclusive, 150, 150);
  s.all_wait = false;
  s.between_waiter_ends = 1'000 * ms;
  s.chaos = 10'000 * ms;
  const Sum sum = run(s, 1);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 1'000U);
}

}  // namespace
}  // namespace redlock::simulation
