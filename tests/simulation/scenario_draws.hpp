#pragma once

#include <cstdint>

#include "simulation/random.hpp"
#include "simulation/scenario.hpp"

/// The parts of Scenario::draw(). Each changes a scenario that the parts before it have drawn.
namespace redlock::simulation::draws {

inline True sometimes(Random& random, std::int64_t per_mille, True from, True to) {
  return random.per_mille(per_mille) ? random.between(from, to) : 0;
}

inline Servers draw_servers(Random& random) {
  return random.per_mille(600) ? Servers::modern
                               : static_cast<Servers>(random.below(server_versions));
}

// In scenario_callers.cpp:

void draw_kind(Scenario& s, std::uint64_t seed);
/// Draws two permits, so that callers wait, or many.
void draw_permits(Scenario& s, std::uint64_t seed);
/// Sets the bounds of one script low enough to be reached, and lets clients die while they wait,
/// many of them before one that lives. Draws from a stream of its own.
void draw_bounds(Scenario& s, std::uint64_t seed);
/// An operator who breaks locks. Draws from a stream of its own.
void draw_operator(Scenario& s, std::uint64_t seed);
/// Lets clients hang while they wait, many of them at once. Draws from a stream of its own.
void draw_freezes(Scenario& s, std::uint64_t seed);
/// Callers that hold one of several resources for long, next to callers of several, and of the
/// other. Draws from a stream of its own.
void draw_long_holds(Scenario& s, std::uint64_t seed);
/// Another library's clients among ours.
void draw_foreign(Scenario& s, std::uint64_t seed);
/// Leases that another client takes over. Draws from a stream of its own.
void draw_handing_on(Scenario& s, std::uint64_t seed);
/// Without any fault but messages that are late, by up to three TTLs.
void hand_on_in_a_slow_network(Scenario& s, Random& random);
/// Plain commands instead of scripts.
void draw_plain(Scenario& s, std::uint64_t seed);

// In scenario_faults.cpp:

/// Draws from a stream of its own, so that the mixes of other faults stay what they are.
void draw_guards(Scenario& s, std::uint64_t seed);
void draw_clocks(Scenario& s, std::uint64_t seed);
/// Sets one node's clock wrong by days, and its fencing numbers as far ahead: the other nodes
/// suffice. Never if nodes forget, because their numbers begin at their clocks again.
void draw_wild_clock(Scenario& s, std::uint64_t seed);
/// Draws failbacks, only if roles change anyway: such scenarios already suit nodes that forget. Not
/// if nodes are trusted: data that a replica had from before a restart cannot be distinguished from
/// data that the restart kept.
void draw_failbacks(Scenario& s, std::uint64_t seed);
/// Nodes that stay replicas for seconds.
void draw_demotions(Scenario& s, std::uint64_t seed);
/// Nodes whose scripts somebody flushes.
void draw_script_flushes(Scenario& s, std::uint64_t seed);
/// Standstills, with clocks that step or without: a holder whose machine stood still notices that
/// as late as a leap.
void draw_standstills(Scenario& s, std::uint64_t seed);
/// Evictions without other faults, with a holder that is notified in time: as for clocks that step.
void evict(Scenario& s);
/// evict(), and operators who reset counters and attach replicas.
void reset_counters(Scenario& s);
/// Operators who reset counters and attach replicas, next to evictions or without. Draws from a
/// stream of its own.
void draw_counters(Scenario& s, std::uint64_t seed);
/// Changes of nodes and connections that no client makes. Draws from a stream of its own.
void draw_intruders(Scenario& s, std::uint64_t seed);
void plant_intruders(Scenario& s);

}  // namespace redlock::simulation::draws
