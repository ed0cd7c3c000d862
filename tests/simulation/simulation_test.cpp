#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "simulation/seeds.hpp"

namespace redlock::simulation {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t seeds_of_a_test = 300;
#else
constexpr std::uint64_t seeds_of_a_test = 3000;
#endif

TEST(Simulation, keeps_every_promise_under_thousands_of_mixes_of_faults) {
  const Verdict verdict = run_seeds({.first = 1, .count = seeds_of_a_test});
  EXPECT_EQ(verdict.failing_seed, 0U) << verdict.violation << '\n'
                                      << story_of(verdict.failing_seed);
  // Promises about nothing would be easy to keep.
  EXPECT_GT(verdict.grants, 10 * verdict.seeds);
  EXPECT_GT(verdict.losses, verdict.seeds);
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

struct Planted {
  Mutant mutant;
  const char* name;
  const char* finding;  ///< a part of what the checker says
  std::uint64_t budget;

  friend void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }
};

class PlantedFault : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, is_found) {
  const Planted& planted = GetParam();
  const Verdict verdict =
      run_seeds({.first = 1, .count = planted.budget, .mutant = planted.mutant});
  ASSERT_NE(verdict.failing_seed, 0U) << "not found in " << verdict.seeds << " seeds";
  EXPECT_NE(verdict.violation.find(planted.finding), std::string::npos) << verdict.violation;
  RecordProperty("seed", static_cast<int>(verdict.failing_seed));
  RecordProperty("finding", verdict.violation);
}

INSTANTIATE_TEST_SUITE_P(
    Mutants, PlantedFault,
    ::testing::Values(
        Planted{Mutant::drop_release_behind_set, "drop_release_behind_set", "invariant 4", 1000},
        Planted{Mutant::validity_from_last_reply, "validity_from_last_reply", "invariant 1", 1000},
        Planted{Mutant::no_drift_margin, "no_drift_margin", "invariant 1", 3000},
        Planted{Mutant::ignore_kill, "ignore_kill", "behind its release", 1000},
        Planted{Mutant::fast_server_clocks, "fast_server_clocks", "invariant 1", 1000},
        Planted{Mutant::forget_at_once, "forget_at_once", "invariant 1", 1000},
        Planted{Mutant::release_without_compare, "release_without_compare", "invariant 1", 1000},
        Planted{Mutant::set_without_nx, "set_without_nx", "invariant 1", 1000},
        Planted{Mutant::grant_a_refusal, "grant_a_refusal", "invariant 1", 1000},
        Planted{Mutant::sleepy_driver, "sleepy_driver", "late", 1000},
        Planted{Mutant::forget_answer, "forget_answer", "answered", 5000},
        Planted{Mutant::maximum_of_counters, "maximum_of_counters", "invariant 2", 1000},
        Planted{Mutant::unconditional_write_back, "unconditional_write_back", "invariant 2", 3000},
        Planted{Mutant::count_unseen_numbers, "count_unseen_numbers", "invariant 2", 1000},
        Planted{Mutant::trust_the_set, "trust_the_set", "invariant 2", 1000},
        Planted{Mutant::no_floor, "no_floor", "invariant 2", 1000},
        Planted{Mutant::no_quarantine, "no_quarantine", "invariant 1", 1000},
        Planted{Mutant::no_clock_guard, "no_clock_guard", "invariant 1", 1000}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(PlantedFaultDeathTest, an_answer_that_is_delivered_twice_breaks_the_contract) {
  EXPECT_DEATH(static_cast<void>(run_seeds({.count = 10, .mutant = Mutant::answer_twice})),
               "broken invariant");
}

}  // namespace
}  // namespace redlock::simulation
