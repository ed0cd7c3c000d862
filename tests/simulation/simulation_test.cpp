#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "simulation/minimal.hpp"
#include "simulation/planted.hpp"
#include "simulation/seeds.hpp"

namespace redlock::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
constexpr std::uint64_t seeds_of_a_test = sanitized ? 300 : 10'000;
constexpr std::uint64_t long_seeds_of_a_kind = sanitized ? 1 : 4;

TEST(Simulation, KeepsEveryPromiseUnderThousandsOfMixesOfFaults) {
  const Verdict verdict = run_seeds({.first = 1, .count = seeds_of_a_test});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed);
  // A run without grants would keep every promise.
  EXPECT_GT(verdict.grants, 10 * verdict.seeds);
  EXPECT_GT(2 * verdict.losses, verdict.seeds);
  RecordProperty("events", static_cast<int>(verdict.events));
}

TEST(Simulation, AReplicatedNodeKeepsEveryPromiseWhoeverPromotesWhom) {
  const Verdict verdict =
      run_seeds({.first = 1, .count = sanitized ? 60 : 1'000, .length = Length::replicated});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed, Length::replicated);
  EXPECT_GT(verdict.grants, 30 * verdict.seeds);
  EXPECT_GT(verdict.role_changes, 10 * verdict.seeds);
}

TEST(Simulation, WithoutFaultsNoResourceIsFreeForLongWhileACallerWaits) {
  const Verdict verdict =
      run_seeds({.first = 1, .count = sanitized ? 6 : 60, .length = Length::steady});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed, Length::steady);
  EXPECT_GT(verdict.grants, 100 * verdict.seeds);
  RecordProperty("longest_wait_us", static_cast<int>(verdict.longest_wait / 1000));
  RecordProperty("longest_idle_us", static_cast<int>(verdict.longest_idle / 1000));
}

TEST(Simulation, ACrowdIsServedInTurn) {
  const Verdict verdict =
      run_seeds({.first = 2, .count = sanitized ? 2 : 5, .length = Length::crowd});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed, Length::crowd);
  EXPECT_GT(verdict.grants, 100 * verdict.seeds);
  RecordProperty("most_overtaken", static_cast<int>(verdict.most_overtaken));
}

TEST(Simulation, ACrowdThatNeedsSeveralResourcesKeepsItsQueuePositions) {
  // In these two seeds, a caller that was queued anew whenever another resource was in its way
  // waited for 2.5 s.
  for (const std::uint64_t seed : std::array<std::uint64_t, 2>{990'000'009, 990'000'015}) {
    const Verdict verdict = run_seeds({.first = seed, .count = 1, .length = Length::crowd});
    EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                        << story_of(seed, Length::crowd);
  }
}

TEST(Simulation, ReadersBehindAWriterThatGivesUpComeInWithNewOnes) {
  if (sanitized) GTEST_SKIP() << "three million events";
  // A caller was overtaken four times by the same later reader.
  constexpr std::uint64_t seed = 990'000'211;
  const Verdict verdict = run_seeds({.first = seed, .count = 1, .length = Length::crowd});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n' << story_of(seed, Length::crowd);
}

TEST(Simulation, WhatIsReservedForAClientThatWasGrantedAlreadyIsPassedOn) {
  // One node kept the resource for a client that had left the queue of another wait, and the nodes
  // disagreed for 81 ms.
  constexpr std::uint64_t seed = 990'003'032;
  const Verdict verdict = run_seeds({.first = seed, .count = 1, .length = Length::crowd});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n' << story_of(seed, Length::crowd);
}

TEST(Simulation, ReadersThatAreQueuedLateShareWithThoseThatHoldIt) {
  // Readers waited until a holder released, and for the writer reservation of a caller that had
  // given up.
  for (const std::uint64_t seed :
       std::array<std::uint64_t, 3>{990'000'721, 990'001'675, 990'001'981}) {
    const Verdict verdict = run_seeds({.first = seed, .count = 1, .length = Length::crowd});
    EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                        << story_of(seed, Length::crowd);
  }
}

TEST(Simulation, IsDecidedByItsSeedAlone) {
  const Scenario scenario = Scenario::draw(4711);
  std::string first;
  std::string second;
  const auto one = Simulation(scenario, 4711).run(&first);
  const auto two = Simulation(scenario, 4711).run(&second);
  EXPECT_EQ(one.print, two.print);
  EXPECT_EQ(first, second);
  EXPECT_NE(Simulation(scenario, 4712).run().print, one.print);
}

constexpr std::array<const char*, kinds> kind_names{"exclusive", "readers", "owners",
                                                    "several",   "permits", "interval"};

std::vector<std::size_t> groups_of(Wanted kind) {
  if (kind == Wanted::readers) return {0, 1};
  if (kind == Wanted::owners) return {0, 2, 3};
  return {0};
}

/// Runs minutes of every fault at once, for one kind of lock per seed.
class Minutes : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Minutes, KeepEveryPromiseAndServeEverybody) {
  std::uint64_t events = 0;
  for (std::uint64_t seed = GetParam(); seed < long_seeds_of_a_kind * kinds; seed += kinds) {
    const Scenario scenario = Scenario::draw_long(seed);
    const auto outcome = Simulation(scenario, seed).run();
    ASSERT_EQ(outcome.violation, "") << story_of(seed, Length::minutes);
    events += outcome.events;
    // Every client makes progress, whatever is broken.
    const auto minutes = static_cast<std::uint64_t>(scenario.chaos / (60'000 * ms));
    EXPECT_GT(outcome.grants, 50 * minutes) << seed;
    EXPECT_GT(outcome.losses, minutes) << seed;
    for (const std::size_t group : groups_of(scenario.kind)) {
      EXPECT_GT(outcome.grants_by_group.at(group), 10 * minutes)
          << "group " << group << ", " << seed;
    }
    // The simulator's memory does not grow with the length of the run.
    EXPECT_LT(outcome.remembered, outcome.tokens / 2) << seed;
  }
  RecordProperty("events", static_cast<int>(events));
}

INSTANTIATE_TEST_SUITE_P(Kinds, Minutes, ::testing::Range<std::uint64_t>(0, kinds),
                         [](const auto& instance) {
                           return kind_names.at(instance.param % kinds);
                         });

TEST(MinutesWithAFault, DoNotGoByUnnoticed) {
  constexpr std::array<Mutant, kinds> faults{
      Mutant::set_without_nx, Mutant::writer_ignores_readers, Mutant::readers_let_all_in,
      Mutant::set_without_nx, Mutant::count_permits,          Mutant::release_at_once};
  for (std::uint64_t seed = 0; seed < kinds; ++seed) {
    Scenario scenario = Scenario::draw_long(seed);
    scenario.mutant = faults.at(seed);
    EXPECT_NE(Simulation(scenario, seed).run().violation, "") << kind_names.at(seed);
  }
}

class PlantedFault : public ::testing::TestWithParam<Planted> {};

std::vector<Planted> planted_faults(bool patient) {
  std::vector<Planted> faults;
  for (const Planted& fault : planted)
    if (fault.patient == patient) faults.push_back(fault);
  return faults;
}

TEST_P(PlantedFault, IsFound) {
  const Planted& fault = GetParam();
  // Most faults break more than one promise: the promise named in `planted` may be the second.
  Verdict verdict;
  for (std::uint64_t first = 1; first <= fault.budget; first = verdict.failing_seed + 1) {
    verdict =
        run_seeds({.first = first, .count = fault.budget - first + 1, .mutant = fault.mutant});
    ASSERT_NE(verdict.failing_seed, 0U) << "not found in " << fault.budget << " seeds";
    if (verdict.violation.find(fault.finding) != std::string::npos) break;
  }
  EXPECT_NE(verdict.violation.find(fault.finding), std::string::npos) << verdict.violation;
  RecordProperty("seed", static_cast<int>(verdict.failing_seed));
  RecordProperty("finding", verdict.violation);
}

std::string name_of_fault(const ::testing::TestParamInfo<Planted>& instance) {
  return instance.param.name;
}
INSTANTIATE_TEST_SUITE_P(Mutants, PlantedFault, ::testing::ValuesIn(planted_faults(false)),
                         name_of_fault);
INSTANTIATE_TEST_SUITE_P(Patient, PlantedFault, ::testing::ValuesIn(planted_faults(true)),
                         name_of_fault);

TEST(MinimalStory, KeepsTheFailureAndLittleElse) {
  const Mutant mutant = Mutant::release_without_compare;
  const Verdict verdict = run_seeds({.count = 1000, .mutant = mutant});
  ASSERT_NE(verdict.failing_seed, 0U);
  const MinimalStory minimal = minimal_story(verdict.failing_seed, mutant);
  EXPECT_NE(minimal.violation.find("invariant 1"), std::string::npos);
  EXPECT_LT(minimal.lines, 100U) << minimal.story;
  EXPECT_EQ(minimal_story(verdict.failing_seed, mutant).story, minimal.story);
}

TEST(PlantedFaultDeathTest, HalfOfTheNodesAreNoQuorum) {
  EXPECT_DEATH(static_cast<void>(run_seeds({.count = 10, .mutant = Mutant::half_quorum})),
               "broken invariant.*majority");
}

TEST(PlantedFaultDeathTest, AnAnswerThatIsDeliveredTwiceBreaksTheContract) {
  EXPECT_DEATH(static_cast<void>(run_seeds({.count = 10, .mutant = Mutant::answer_twice})),
               "broken invariant");
}

}  // namespace
}  // namespace redlock::simulation
