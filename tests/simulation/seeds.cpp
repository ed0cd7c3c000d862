#include "simulation/seeds.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace redlock::simulation {
namespace {

std::atomic<std::uint64_t> running{0};
std::string story_so_far;

std::string tell_story(std::uint64_t seed, const Scenario& scenario, std::size_t lines) {
  running = seed;
  story_so_far.clear();
  const auto outcome = Simulation(scenario, seed).run(&story_so_far);
  const std::string story = std::exchange(story_so_far, {});
  std::size_t begin = story.size();
  for (std::size_t line = 0; line <= lines && begin != std::string::npos && begin > 0; ++line) {
    begin = story.rfind('\n', begin - 1);
  }
  if (begin == std::string::npos || begin == 0) begin = 0;
  return "seed " + std::to_string(seed) + ":\n" + story.substr(begin) + "\n" +
         (outcome.violation.empty() ? "every promise was kept" : outcome.violation) + "\n";
}

}  // namespace

Scenario scenario_of(std::uint64_t seed, Mutant mutant, Length length) {
  switch (length) {
    case Length::seconds:
      break;
    case Length::minutes:
      return Scenario::draw_long(seed);
    case Length::steady:
      return Scenario::draw_steady(seed);
    case Length::crowd:
      return Scenario::draw_crowd(seed);
    case Length::replicated:
      return Scenario::draw_replicated(seed, mutant);
  }
  return Scenario::draw(seed, mutant);
}

std::uint64_t running_seed() noexcept { return running; }
std::string_view running_story() noexcept { return story_so_far; }

Simulation::Outcome outcome_of(std::uint64_t seed) {
  running = seed;
  return Simulation(Scenario::draw(seed), seed).run();
}

Verdict run_seeds(const Seeds& seeds) {
  Verdict verdict;
  for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
    running = seed;
    const Scenario scenario = scenario_of(seed, seeds.mutant, seeds.length);
    Simulation::Outcome outcome = Simulation(scenario, seed).run();
    ++verdict.seeds;
    verdict.events += outcome.events;
    verdict.grants += outcome.grants;
    verdict.losses += outcome.losses;
    verdict.role_changes += outcome.role_changes;
    verdict.longest_wait = std::max(verdict.longest_wait, outcome.longest_wait);
    verdict.longest_idle = std::max(verdict.longest_idle, outcome.longest_idle);
    verdict.most_overtaken = std::max(verdict.most_overtaken, outcome.most_overtaken);
    if (outcome.violation.empty() && seed % 100 == 0 &&
        Simulation(scenario, seed).run().print != outcome.print) {
      outcome.violation = "the seed did not decide everything: a second run went another way";
    }
    if (outcome.violation.empty()) continue;
    verdict.failing_seed = seed;
    verdict.violation = outcome.violation;
    return verdict;
  }
  return verdict;
}

std::string story_of(std::uint64_t seed, Mutant mutant, std::size_t lines) {
  return tell_story(seed, Scenario::draw(seed, mutant), lines);
}

std::string story_of(std::uint64_t seed, Length length, std::size_t lines) {
  return tell_story(seed, scenario_of(seed, Mutant::none, length), lines);
}

}  // namespace redlock::simulation
