#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "simulation/minimal.hpp"
#include "simulation/planted.hpp"
#include "simulation/seeds.hpp"

namespace redlock::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds_of_a_test = 300;
#else
constexpr std::uint64_t seeds_of_a_test = 10'000;
#endif

TEST(Simulation, keeps_every_promise_under_thousands_of_mixes_of_faults) {
  const Verdict verdict = run_seeds({.first = 1, .count = seeds_of_a_test});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed);
  // Promises about nothing would be easy to keep.
  EXPECT_GT(verdict.grants, 10 * verdict.seeds);
  EXPECT_GT(2 * verdict.losses, verdict.seeds);
  RecordProperty("events", static_cast<int>(verdict.events));
}

TEST(Simulation, is_decided_by_its_seed_alone) {
  const Scenario scenario = Scenario::draw(4711);
  std::string first;
  std::string second;
  const auto one = Simulation(scenario, 4711).run(&first);
  const auto two = Simulation(scenario, 4711).run(&second);
  EXPECT_EQ(one.print, two.print);
  EXPECT_EQ(first, second);
  EXPECT_NE(Simulation(scenario, 4712).run().print, one.print);
}

class PlantedFault : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, is_found) {
  const Planted& fault = GetParam();
  const Verdict verdict = run_seeds({.first = 1, .count = fault.budget, .mutant = fault.mutant});
  ASSERT_NE(verdict.failing_seed, 0U) << "not found in " << verdict.seeds << " seeds";
  EXPECT_NE(verdict.violation.find(fault.finding), std::string::npos) << verdict.violation;
  RecordProperty("seed", static_cast<int>(verdict.failing_seed));
  RecordProperty("finding", verdict.violation);
}

INSTANTIATE_TEST_SUITE_P(Mutants, PlantedFault, ::testing::ValuesIn(planted),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(MinimalStory, keeps_the_failure_and_little_else) {
  const Mutant mutant = Mutant::release_without_compare;
  const Verdict verdict = run_seeds({.count = 1000, .mutant = mutant});
  ASSERT_NE(verdict.failing_seed, 0U);
  const MinimalStory minimal = minimal_story(verdict.failing_seed, mutant);
  EXPECT_NE(minimal.violation.find("invariant 1"), std::string::npos);
  EXPECT_LT(minimal.lines, 100U) << minimal.story;
  EXPECT_EQ(minimal_story(verdict.failing_seed, mutant).story, minimal.story);
}

TEST(PlantedFaultDeathTest, half_of_the_nodes_are_no_quorum) {
  EXPECT_DEATH(static_cast<void>(run_seeds({.count = 10, .mutant = Mutant::half_quorum})),
               "broken invariant.*majority");
}

TEST(PlantedFaultDeathTest, an_answer_that_is_delivered_twice_breaks_the_contract) {
  EXPECT_DEATH(static_cast<void>(run_seeds({.count = 10, .mutant = Mutant::answer_twice})),
               "broken invariant");
}

}  // namespace
}  // namespace redlock::simulation
