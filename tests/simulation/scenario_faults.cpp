#include <algorithm>
#include <cstddef>

#include "core/votes/quorum.hpp"
#include "simulation/scenario_draws.hpp"

// Faults of nodes and connections, of clocks and of intruders.
namespace redlock::simulation::draws {
namespace {

/// Clocks that step under the clock guard, without any other fault that could keep a reading from a
/// holder: only then is the time bounded for which two may hold the lock.
void step_clocks(Scenario& s, Random& random) {
  s.between_breaks = s.between_crashes = s.between_stops = s.between_partitions = 0;
  s.between_pauses = s.between_saves = s.late = 0;
  s.between_flushes = s.between_role_changes = 0;
  s.tail_per_mille = s.error_per_mille = s.divided_per_mille = 0;
  s.extreme_rates = s.last_millisecond = false;
  s.shortest_limit = 100 * ms;
  s.longest_limit = 1'000 * ms;
  s.clock_guard = true;
  s.node_skew = random.below(200 * ms);
  s.client_skew = random.below(6 * hour);
  s.shortest_ttl_ms = random.between(100, 1'500);
  s.longest_ttl_ms = random.between(1'500, 6'000);
  s.between_clock_steps = random.between(300, 4'000) * ms;
  // Smaller steps hide in the uncertainty of two readings and in the drift between them.
  s.shortest_step = 100 * ms;
  s.longest_step = random.between(100, 4'000) * ms;
  s.chaos = random.between(3'000, 8'000) * ms;
  s.judged_by_votes = s.mutant == Mutant::leaps_are_ours || random.per_mille(400);
  if (!s.judged_by_votes) return;
  s.between_client_ends = 0;
  s.node_skew = random.below(100 * ms);
  // Seconds without a reading hide larger steps; twice this step is still within the median's
  // bound.
  s.shortest_step = 300 * ms;
  s.longest_step = 350 * ms;
}

/// Four clients, three nodes, guards, and no fault at all.
void be_calm(Scenario& s) {
  s.between_breaks = s.between_crashes = s.between_stops = s.between_partitions = 0;
  s.between_pauses = s.between_saves = s.late = s.between_client_ends = 0;
  s.between_flushes = s.between_role_changes = s.between_clock_steps = 0;
  s.tail_per_mille = s.error_per_mille = s.divided_per_mille = 0;
  s.extreme_rates = s.last_millisecond = s.any_clocks = s.judged_by_votes = false;
  s.steady = false;
  s.foreign = 0;
  s.between_waiter_ends = s.between_demotions = s.between_failbacks = 0;
  s.kind = Wanted::exclusive;
  s.longest_interval_ms = 0;
  s.nodes = 3;
  s.quorum = 2;
  s.clients = 4;
  s.resources = 1;
  s.shortest_limit = 100 * ms;
  s.longest_limit = 1'000 * ms;
  s.restart_guard = s.clock_guard = true;
  s.node_skew = std::min(s.node_skew, 300 * ms);
  s.durable = false;
}

/// Nodes that are far from everybody, so few that a quorum is near.
void draw_far_nodes(Scenario& s, Random& random) {
  if (s.nodes == s.quorum || s.foreign > 0) return;
  // Owners that divide four nodes keep each other out for seconds, until the writer reservations
  // that they leave on the far node end.
  if (s.steady && s.kind == Wanted::owners) return;
  s.far_nodes = static_cast<std::size_t>(random.between(1, static_cast<True>(s.nodes - s.quorum)));
  // If near nodes are of no use, a lease has to last until far nodes have granted it.
  const True most = std::min(s.longest_limit / 12, s.shortest_ttl_ms * ms / 8);
  s.far = s.steady ? random.between(2, 20) * ms : random.below(most) + 1;
}

}  // namespace

void draw_guards(Scenario& s, std::uint64_t seed) {
  Random random(seed * 2);
  if (random.per_mille(600)) s.fencing_per_mille = random.per_mille(700) ? 1000 : 500;
  Random numbers(seed * 3 + 7);
  s.servers = draw_servers(numbers);
  s.divided_per_mille = numbers.per_mille(500) ? numbers.between(1, 300) : 0;
  s.restart_guard = random.per_mille(600);
  if (s.restart_guard) {
    s.snapshot_per_mille = random.between(0, 700);
    s.between_saves = random.between(20, 300) * ms;
    s.durable = random.per_mille(100);
    if (s.durable) s.data_loss_per_mille = 0;
    Random wipes(seed * 13 + 5);
    s.between_flushes = sometimes(wipes, 400, 30 * ms, 600 * ms);
    s.between_role_changes = sometimes(wipes, 400, 30 * ms, 600 * ms);
  }
  const bool wiped = s.between_flushes + s.between_role_changes > 0;
  const bool forgets = wiped || (s.between_crashes > 0 && s.data_loss_per_mille > 0);
  if (s.fencing_per_mille > 0 && forgets) {
    // The numbers of a node that forgot begin at its own clock. When the node returns, clocks must
    // be apart by less than the time for which it had no vote: `rates` is what their rates add
    // until then, plus a millisecond for numbers that were counted on from a clock.
    const True rates = (s.chaos + 1'000 * ms) / 100 + 1 * ms;
    s.longest_ttl_ms = std::max(s.longest_ttl_ms, 2 * rates / ms);
    const True apart = s.longest_ttl_ms * ms - rates;
    s.node_skew = s.client_skew = random.below(apart / 2);
  } else {
    s.node_skew = random.below(random.per_mille(500) ? 6 * hour : 100 * ms);
    s.client_skew = random.below(random.per_mille(500) ? 6 * hour : 100 * ms);
  }
}

void draw_clocks(Scenario& s, std::uint64_t seed) {
  Random random(~seed);
  const std::int64_t dice = random.below(1000);
  const bool planted = s.mutant == Mutant::no_clock_guard || s.mutant == Mutant::leaps_are_ours;
  if (dice < 100 || planted) return step_clocks(s, random);
  if (dice < 200) {
    s.any_clocks = true;
    s.between_clock_steps = random.between(10, 100) * ms;
    s.data_loss_per_mille = s.between_flushes = s.between_role_changes = 0;
    s.fencing_per_mille = 1000;
  }
  if (dice < 250 || dice > 800) {
    s.clock_guard = true;
    s.node_skew = std::min(s.node_skew, 300 * ms);
  }
}

void draw_wild_clock(Scenario& s, std::uint64_t seed) {
  Random random(seed * 13 + 5);
  const bool wiped = s.between_flushes + s.between_role_changes > 0;
  const bool forgets = wiped || (s.between_crashes > 0 && s.data_loss_per_mille > 0);
  const bool others_suffice = s.quorum < s.nodes;
  const bool steps = s.between_clock_steps > 0 || s.any_clocks;
  if (s.mutant != Mutant::none || s.steady || s.fencing_per_mille == 0) return;
  if (forgets || steps || !others_suffice || !random.per_mille(500)) return;
  s.wild_skew = random.between(2, 30) * 24 * hour;
  s.endless_floor = random.per_mille(300);
}

void draw_failbacks(Scenario& s, std::uint64_t seed) {
  Random random(seed * 17 + 29);
  if (s.mutant != Mutant::none || s.between_role_changes == 0 || s.durable) return;
  s.between_failbacks = sometimes(random, 500, 30 * ms, 600 * ms);
}

void draw_demotions(Scenario& s, std::uint64_t seed) {
  Random random(seed * 37 + 47);
  if (s.mutant != Mutant::none || s.between_role_changes == 0) return;
  s.between_demotions = sometimes(random, 300, 100 * ms, 2'000 * ms);
}

void draw_script_flushes(Scenario& s, std::uint64_t seed) {
  Random random(seed * 41 + 53);
  const bool planted = s.mutant == Mutant::queue_scripts_stay_away;
  if (s.mutant != Mutant::none && !planted) return;
  s.between_script_flushes = sometimes(random, planted ? 1000 : 200, 50 * ms, 500 * ms);
  if (!planted) return;
  s.kind = Wanted::exclusive;
  s.foreign = 0;
  s.clients = 4;
  s.resources = 1;
  s.between_script_flushes = 50 * ms;
}

void draw_standstills(Scenario& s, std::uint64_t seed) {
  Random random(seed * 29 + 41);
  const bool steps = s.between_clock_steps > 0 && !s.any_clocks && !s.judged_by_votes;
  if (s.mutant != Mutant::none || !steps || !random.per_mille(500)) return;
  s.between_standstills = random.between(500, 4'000) * ms;
  if (random.per_mille(500)) s.between_clock_steps = 0;
}

void evict(Scenario& s) {
  be_calm(s);
  s.shortest_ttl_ms = 2'000;
  s.longest_ttl_ms = 5'000;
  s.between_evictions = 1'000 * ms;
  s.think = 3'000 * ms;  // leases are held for longer than an eviction may go unnoticed
  s.chaos = 30'000 * ms;
}

void reset_counters(Scenario& s) {
  evict(s);
  s.between_counter_resets = 1'000 * ms;
  s.between_copies = 500 * ms;
}

void draw_counters(Scenario& s, std::uint64_t seed) {
  Random random(seed * 53 + 67);
  const bool resets = random.per_mille(20);
  const bool evicts = random.per_mille(500);
  const True copies = sometimes(random, 200, 50 * ms, 500 * ms);
  if (s.mutant != Mutant::none) return;
  // Replicas attach among all other faults.
  if (s.restart_guard) s.between_copies = copies;
  if (!resets || s.steady) return;
  if (s.between_clock_steps > 0 || s.any_clocks || s.judged_by_votes || s.one_forgets) return;
  reset_counters(s);
  if (!evicts) s.between_evictions = 0;
}

void draw_intruders(Scenario& s, std::uint64_t seed) {
  Random random(seed * 43 + 59);
  const bool far_nodes = random.per_mille(150);
  const bool evicts = random.per_mille(15);
  const True silences = sometimes(random, 150, 20 * ms, 300 * ms);
  const True deaths = sometimes(random, 200, 20 * ms, 500 * ms);
  const True forgeries = sometimes(random, 100, 50 * ms, 500 * ms);
  const True swaps = sometimes(random, 150, 50 * ms, 500 * ms);
  if (s.mutant != Mutant::none) return;
  if (s.steady) {
    if (far_nodes) draw_far_nodes(s, random);
    return;
  }
  // These scenarios get only faults that keep no reading from a holder, so none of the following.
  if (s.between_clock_steps > 0 || s.any_clocks || s.judged_by_votes || s.one_forgets) return;
  if (s.between_counter_resets > 0) return;
  if (evicts) return evict(s);
  if (far_nodes) draw_far_nodes(s, random);
  s.between_silences = silences;
  s.between_deaths = deaths;
  const bool majority = s.nodes >= 3 && s.quorum == core::majority(s.nodes);
  // With a wild skew, one node is of no use for the whole seed already.
  if (!s.restart_guard || !majority || s.wild_skew > 0) return;
  s.between_forgeries = forgeries;
  const bool wiped = s.between_flushes + s.between_role_changes > 0;
  const bool forgets = wiped || (s.between_crashes > 0 && s.data_loss_per_mille > 0);
  // A number that was swapped away is as good as forgotten: see draw_guards().
  if (!s.durable && (forgets || s.fencing_per_mille == 0)) s.between_swaps = swaps;
}

void plant_intruders(Scenario& s) {
  if (s.mutant == Mutant::reserved_for_the_slowest) {
    s.kind = Wanted::exclusive;
    s.foreign = 0;
    s.nodes = 3;
    s.quorum = 2;
    s.clients = 8;
    s.slots = s.resources = 1;
    s.fastest = 200'000;
    s.slowest = 400'000;
    s.far_nodes = 1;
    s.far = 20 * ms;
    s.between_waiter_ends = 100 * ms;
  }
  if (s.mutant != Mutant::forged_on_all && s.mutant != Mutant::swapped_in_as_new) return;
  be_calm(s);
  s.shortest_ttl_ms = s.longest_ttl_ms = 100;
  s.longest_limit = 100 * ms;
  s.shortest_limit = 20 * ms;
  s.fencing_per_mille = 0;
  s.think = 5 * ms;
  s.chaos = 5'000 * ms;
  if (s.mutant == Mutant::forged_on_all) {
    s.between_forgeries = 500 * ms;
  } else {
    s.between_swaps = 300 * ms;
    s.between_partitions = 20 * ms;
    s.error_per_mille = 300;
  }
}

}  // namespace redlock::simulation::draws
