#include "simulation/minimal.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/votes/quorum.hpp"
#include "simulation/simulation.hpp"

namespace redlock::simulation {
namespace {

/// How many seeds are tried after each reduction: a changed scenario draws other random numbers, so
/// a failing seed has to be searched for again.
constexpr std::uint64_t seeds_tried = 200;

using Reduction = void (*)(Scenario&);

/// Each reduction takes something away, or changes nothing.
constexpr std::array<Reduction, 38> reductions{
    [](Scenario& s) { s.between_counter_resets = 0; },
    [](Scenario& s) { s.torn_readings_per_mille = 0; },
    [](Scenario& s) { s.undone_failovers_per_mille = 0; },
    [](Scenario& s) { s.between_copies = 0; },
    [](Scenario& s) { s.between_breaks = 0; },
    [](Scenario& s) { s.between_crashes = 0; },
    [](Scenario& s) { s.between_stops = 0; },
    [](Scenario& s) { s.between_partitions = 0; },
    [](Scenario& s) { s.between_pauses = 0; },
    [](Scenario& s) { s.between_client_ends = 0; },
    [](Scenario& s) { s.between_waiter_ends = 0; },
    [](Scenario& s) { s.between_saves = s.snapshot_per_mille = 0; },
    [](Scenario& s) { s.between_clock_steps = 0; },
    [](Scenario& s) { s.between_evictions = 0; },
    [](Scenario& s) { s.between_standstills = 0; },
    [](Scenario& s) { s.between_silences = 0; },
    [](Scenario& s) { s.between_deaths = 0; },
    [](Scenario& s) { s.between_forgeries = 0; },
    [](Scenario& s) { s.between_swaps = 0; },
    [](Scenario& s) { s.far = 0; },
    [](Scenario& s) { s.error_per_mille = 0; },
    [](Scenario& s) { s.data_loss_per_mille = 0; },
    [](Scenario& s) { s.tail_per_mille = 0; },
    [](Scenario& s) { s.late = 0; },
    [](Scenario& s) { s.divided_per_mille = 0; },
    [](Scenario& s) { s.fencing_per_mille = 0; },
    [](Scenario& s) {
      if (s.between_operations > 0) --s.clients;
      s.between_operations = 0;
    },
    [](Scenario& s) { s.server_ppm = 0; },
    [](Scenario& s) { s.client_ppm = 0; },
    [](Scenario& s) { s.node_skew = s.client_skew = 0; },
    [](Scenario& s) { s.last_millisecond = false; },
    [](Scenario& s) { s.slots = 1; },
    [](Scenario& s) { s.clients = std::min<std::size_t>(s.clients, 2); },
    [](Scenario& s) {
      if (s.kind != Wanted::several && s.kind != Wanted::permits) s.resources = 1;
    },
    [](Scenario& s) {
      s.replicated = std::min<std::size_t>(s.replicated, 1);
      s.servers_of_each = 3;
    },
    [](Scenario& s) {
      s.nodes = std::min<std::size_t>(s.nodes, 3);
      s.quorum = core::majority(s.nodes);
    },
    [](Scenario& s) {
      s.nodes = s.quorum = 1;
      s.replicated = std::min<std::size_t>(s.replicated, 1);
    },
    [](Scenario& s) { s.chaos /= 2; },
};

/// The broken promise: the sentence up to the first number that differs from run to run.
std::string promise_of(const std::string& violation) {
  return violation.substr(0, std::min(violation.find(':'), violation.size()));
}

struct Failure {
  std::uint64_t seed;
  std::string violation;
  std::uint64_t events;
};

std::optional<Failure> first_failure(const Scenario& scenario, std::uint64_t first,
                                     const std::string& promise) {
  for (std::uint64_t seed = first; seed < first + seeds_tried; ++seed) {
    const auto outcome = Simulation(scenario, seed).run();
    if (outcome.violation.empty() || promise_of(outcome.violation) != promise) continue;
    return Failure{seed, outcome.violation, outcome.events};
  }
  return std::nullopt;
}

std::string words_for(const Scenario& s) {
  std::string text = std::to_string(s.clients) + " clients with " + std::to_string(s.slots) +
                     " callers, " + std::to_string(s.nodes) + " nodes, " +
                     std::to_string(s.replicated) + " of them of " +
                     std::to_string(s.servers_of_each) + " servers, quorum " +
                     std::to_string(s.quorum) + ", " + std::to_string(s.chaos / ms) + " ms";
  const auto add = [&text](bool there, const char* what) {
    if (there) text += std::string("; ") + what;
  };
  add(s.between_breaks > 0, "connections break");
  add(s.between_crashes > 0, "nodes crash");
  add(s.between_crashes > 0 && s.data_loss_per_mille > 0, "and forget");
  add(s.between_stops > 0, "nodes stop");
  add(s.between_partitions > 0, "partitions");
  add(s.between_pauses > 0, "clients pause");
  add(s.between_client_ends > 0, "clients end");
  add(s.between_clock_steps > 0, "clocks step");
  add(s.between_standstills > 0, "machines of clients stand still");
  add(s.between_evictions > 0, "nodes evict");
  add(s.between_counter_resets > 0, "an operator resets the nodes' counters");
  add(s.between_copies > 0, "replicas attach");
  add(s.replicated > 0, "the roles of the last nodes' servers change");
  add(s.undone_failovers_per_mille > 0, "failovers are undone");
  add(s.torn_readings_per_mille > 0, "other commands run between WAIT and INFO");
  add(s.between_silences > 0, "subscriptions die silently");
  add(s.between_deaths > 0, "connections die silently");
  add(s.between_forgeries > 0, "somebody adds members to a marker");
  add(s.between_swaps > 0, "databases are swapped there and back");
  add(s.far > 0 && s.far_nodes > 0, "some nodes are far");
  add(s.server_ppm > 0 || s.client_ppm > 0, "clocks drift");
  add(s.error_per_mille > 0, "nodes answer with errors");
  add(s.late > 0, "dropped requests are executed late");
  add(s.fencing_per_mille > 0, "fencing");
  add(s.between_operations > 0, "one of the clients is an operator, who breaks locks");
  return text;
}

bool same(const Scenario& a, const Scenario& b) { return words_for(a) == words_for(b); }

}  // namespace

MinimalStory minimal_story(std::uint64_t seed, Mutant mutant, Length length) {
  Scenario scenario = scenario_of(seed, mutant, length);
  const auto outcome = Simulation(scenario, seed).run();
  if (outcome.violation.empty()) return {};
  const std::string promise = promise_of(outcome.violation);
  Failure failure{seed, outcome.violation, outcome.events};
  for (bool reduced = true; reduced;) {
    reduced = false;
    for (const Reduction reduce : reductions) {
      Scenario less = scenario;
      reduce(less);
      if (less.chaos < 1 * ms) continue;
      const auto found = first_failure(less, seed, promise);
      if (!found) continue;
      reduced = reduced || !same(less, scenario);
      scenario = less;
      failure = *found;
    }
  }
  // Takes the failing seed in which the least happens.
  for (std::uint64_t other = seed; other < seed + seeds_tried; ++other) {
    const auto found = Simulation(scenario, other).run();
    const bool shorter = found.events < failure.events && !found.violation.empty() &&
                         promise_of(found.violation) == promise;
    if (shorter) failure = {other, found.violation, found.events};
  }
  MinimalStory minimal{failure.seed, failure.violation, words_for(scenario), {}, 0};
  static_cast<void>(Simulation(scenario, failure.seed).run(&minimal.story));
  minimal.lines =
      static_cast<std::size_t>(std::count(minimal.story.begin(), minimal.story.end(), '\n'));
  return minimal;
}

}  // namespace redlock::simulation
