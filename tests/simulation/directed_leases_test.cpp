// Leases are granted, broken, downgraded, handed on and watched.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "core/votes/quorum.hpp"
#include "simulation/directed.hpp"
#include "simulation/random.hpp"
#include "simulation/scenario_draws.hpp"

namespace redlock::simulation {
namespace {

TEST(Directed, WithoutFaultsEveryNumberOfNodesServesEverybody) {
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

TEST(LongDirected, NobodyGetsAResourceWhileTheDelayOfABrokenLockLasts) {
  std::array<std::uint64_t, kinds> delays{};
  for (std::uint64_t seed = 1; seed <= 1'200; ++seed) {
    Scenario s = Scenario::draw(seed);
    if (!s.suits_operators() || s.between_operations > 0) continue;
    s.gives_per_mille = 0;  // see draw_operator()
    s.add_operator(20 * ms);
    const auto outcome = Simulation(s, 1).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    delays.at(static_cast<std::size_t>(s.kind)) += outcome.kept_out;
  }
  EXPECT_GE(delays.at(static_cast<std::size_t>(Wanted::exclusive)), 200U);
  for (const Wanted kind : {Wanted::readers, Wanted::owners, Wanted::several}) {
    EXPECT_GE(delays.at(static_cast<std::size_t>(kind)), 50U) << static_cast<int>(kind);
  }
}

TEST(Directed, CallersThatWaitDoNotGetItDuringADelayAndGetItAfterwards) {
  for (const Wanted kind : {Wanted::exclusive, Wanted::readers, Wanted::owners, Wanted::several}) {
    Scenario s = calm();
    s.kind = kind;
    s.resources = kind == Wanted::several ? 2 : 1;
    s.clients = 4;
    s.add_operator(20 * ms);
    std::uint64_t delays = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      const auto outcome = Simulation(s, seed).run();
      EXPECT_EQ(outcome.violation, "") << "seed " << seed << ", kind " << static_cast<int>(kind);
      delays += outcome.kept_out;
    }
    EXPECT_GE(delays, 30U) << static_cast<int>(kind);
  }
}

TEST(Directed, NoWriterIsBesideALeaseThatWasDowngraded) {
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

TEST(Directed, ReadersThatWaitComeInWhenAWriterIsDowngraded) {
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

TEST(Directed, AClientThatHasJustBegunExtendsAndReleasesWhatItIsHanded) {
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

TEST(LongDirected, ALeaseThatIsHandedOnHasOneOwnerWhateverIsUnderWay) {
  std::uint64_t adoptions = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Scenario s = Scenario::draw(seed);
    Random random(seed);
    draws::hand_on_in_a_slow_network(s, random);
    s.kind = seed % 4 == 0 ? Wanted::readers : Wanted::exclusive;
    s.steady = false;
    s.foreign = 0;
    s.gives_per_mille = 700;
    s.fencing_per_mille = 1000;
    const auto outcome = Simulation(s, 1).run();
    EXPECT_EQ(outcome.violation, "") << "seed " << seed;
    adoptions += outcome.adoptions;
  }
  EXPECT_GE(adoptions, 2'000U);
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

TEST(Directed, WhoWatchesSeesEveryChangeAlsoBehindLeasesThatExpire) {
  const Sum sum = run(watched(), 40);
  EXPECT_EQ(sum.violation, "");
  EXPECT_GE(sum.grants, 2'000U);
}

TEST(Directed, WhoWatchesSeesEveryChangeBesideOtherLibrariesClients) {
  Scenario s = watched();
  s.foreign = 2;
  EXPECT_EQ(run(s, 40).violation, "");
}

}  // namespace
}  // namespace redlock::simulation
