#include "simulation/scenario.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/claim/quorum.hpp"
#include "simulation/node/model_node.hpp"
#include "simulation/random.hpp"

namespace redlock::simulation {
namespace {

/// The drift allowance, 1 % of the TTL, covers two clocks whose rates differ by that much: just
/// under half for each.
constexpr std::int64_t allowed_ppm = 4'900;

True sometimes(Random& random, std::int64_t per_mille, True from, True to) {
  return random.per_mille(per_mille) ? random.between(from, to) : 0;
}

Servers draw_servers(Random& random) {
  return random.per_mille(600) ? Servers::modern
                               : static_cast<Servers>(random.below(server_versions));
}

/// Draws from a stream of its own, so that the mixes of other faults stay what they are.
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

/// Sets one node's clock wrong by days, and its fencing numbers as far ahead: the other nodes
/// suffice. Never if nodes forget, because their numbers begin at their clocks again.
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

/// Several callers that lock again and again, without any fault that could keep them waiting.
void be_steady(Scenario& s, Random& random) {
  s.between_breaks = s.between_crashes = s.between_stops = s.between_partitions = 0;
  s.between_pauses = s.between_client_ends = s.between_saves = s.between_clock_steps = 0;
  s.between_flushes = s.between_role_changes = 0;
  s.tail_per_mille = s.error_per_mille = s.divided_per_mille = 0;
  s.data_loss_per_mille = s.snapshot_per_mille = 0;
  s.late = 0;
  s.extreme_rates = s.last_millisecond = s.any_clocks = s.judged_by_votes = false;
  s.node_skew = std::min(s.node_skew, 100 * ms);
  s.clients = static_cast<std::size_t>(random.between(2, 8));
  s.slots = static_cast<std::size_t>(random.between(1, 2));
  s.fastest = random.between(200'000, 1 * ms);
  s.slowest = s.fastest * random.between(1, 3);
  s.shortest_limit = 100 * ms;
  s.longest_limit = 1'000 * ms;
  // Only a release may end a hold.
  s.shortest_ttl_ms = random.between(5'000, 10'000);
  s.longest_ttl_ms = s.shortest_ttl_ms + random.between(0, 10'000);
  s.longest_hold = random.between(1, 8) * ms;
  s.think = random.between(1, 5) * ms;
  s.readers_per_mille = random.per_mille(500) ? 600 : random.between(500, 950);
  s.chaos = 5'000 * ms;
}

/// Connections break, so that nodes miss requests, and nodes forget (see Simulation::may_forget).
void let_one_forget(Scenario& s, Random& random) {
  s.one_forgets = true;
  s.between_stops = s.between_partitions = s.between_pauses = s.between_saves = 0;
  s.between_client_ends = s.between_clock_steps = s.late = 0;
  s.between_flushes = s.between_role_changes = 0;
  s.tail_per_mille = s.error_per_mille = s.snapshot_per_mille = 0;
  s.any_clocks = s.judged_by_votes = s.durable = s.last_millisecond = false;
  s.fencing_per_mille = 0;
  constexpr std::array<std::size_t, 3> sizes{3, 4, 5};
  s.nodes = sizes[static_cast<std::size_t>(random.below(3))];
  s.quorum = core::majority(s.nodes);
  s.between_breaks = random.between(5, 50) * ms;
  s.between_crashes = random.between(5, 50) * ms;
  s.data_loss_per_mille = 1000;
  s.shortest_ttl_ms = random.between(30, 100);
  s.longest_ttl_ms = s.shortest_ttl_ms + random.between(0, 50);
  s.longest_interval_ms = 5 * s.longest_ttl_ms;
  s.chaos = 4'000 * ms;
}

/// Nodes miss an interval, and others forget it, under the guard: intervals are longer than the
/// guard keeps a node away.
void forget_within_intervals(Scenario& s, Random& random) {
  s.between_pauses = s.between_clock_steps = s.late = 0;
  s.tail_per_mille = s.error_per_mille = 0;
  s.any_clocks = s.judged_by_votes = s.durable = s.last_millisecond = false;
  s.fencing_per_mille = 0;
  s.restart_guard = true;
  constexpr std::array<std::size_t, 2> sizes{3, 5};
  s.nodes = sizes[static_cast<std::size_t>(random.below(2))];
  s.quorum = core::majority(s.nodes);
  s.resources = 1;
  s.shortest_ttl_ms = random.between(20, 50);
  s.longest_ttl_ms = s.shortest_ttl_ms + random.between(0, 50);
  s.longest_interval_ms = 10 * s.longest_ttl_ms;
  s.between_stops = s.between_partitions = random.between(20, 200) * ms;
  s.between_crashes = random.between(1, 4) * s.longest_ttl_ms * ms;
  s.data_loss_per_mille = 1000;
  s.snapshot_per_mille = random.between(0, 300);
  s.chaos = 4'000 * ms;
}

/// Draws failbacks, only if roles change anyway: such scenarios already suit nodes that forget. Not
/// if nodes are trusted: data that a replica had from before a restart cannot be distinguished from
/// data that the restart kept.
void draw_failbacks(Scenario& s, std::uint64_t seed) {
  Random random(seed * 17 + 29);
  if (s.mutant != Mutant::none || s.between_role_changes == 0 || s.durable) return;
  s.between_failbacks = sometimes(random, 500, 30 * ms, 600 * ms);
}

void draw_kind(Scenario& s, std::uint64_t seed) {
  Random random(seed * 5 + 11);
  const bool of_a_kind = s.mutant >= Mutant::readers_let_all_in;
  if (s.mutant != Mutant::none && !of_a_kind) return;
  constexpr std::array others{Wanted::readers, Wanted::owners, Wanted::several, Wanted::permits,
                              Wanted::interval};
  if (random.per_mille(450)) s.kind = others[static_cast<std::size_t>(random.below(5))];
  if (s.steady) {
    be_steady(s, random);
    if (s.kind == Wanted::exclusive) s.kind = static_cast<Wanted>(random.below(kinds));
  }
  if (s.mutant == Mutant::readers_let_all_in) s.kind = Wanted::owners;
  if (s.mutant == Mutant::writer_ignores_readers) s.kind = Wanted::readers;
  if (s.mutant == Mutant::cooldown_untold) s.kind = Wanted::interval;
  if (s.mutant == Mutant::cooldown_where_the_key_was) s.kind = Wanted::interval;
  if (s.mutant == Mutant::memory_is_not_asked_for) s.kind = Wanted::interval;
  const bool of_writers =
      s.mutant == Mutant::readers_come_one_by_one || s.mutant == Mutant::fenced_writer_lets_in;
  if (of_writers) s.kind = Wanted::readers;
  if (s.mutant == Mutant::fenced_writer_lets_in) {
    s.fencing_per_mille = 1000;
    s.servers = Servers::by_scripts;
    // Holds overlap, so that there are always readers.
    s.clients = 8;
    s.slots = 2;
    s.readers_per_mille = 950;
    s.longest_hold = 30 * ms;
    s.think = 1 * ms;
  }
  const bool of_long_reads =
      s.mutant == Mutant::readers_stay_queued || s.mutant == Mutant::one_more_reader_writes;
  if (of_long_reads) {
    s.kind = Wanted::readers;
    s.clients = static_cast<std::size_t>(random.between(3, 6));
    s.resources = s.slots = 1;
    s.think = 2 * ms;
    s.longest_read = 400 * ms;
  }
  if (s.mutant == Mutant::nothing_is_kept) {
    s.kind = Wanted::several;
    s.beside = Wanted::exclusive;
    s.own_resource = s.all_wait = true;
    s.several_per_mille = 1000;
    s.clients = 5;
    s.slots = 1;
    s.think = 1;
    s.longest_hold = 100 * ms;  // longer than a reservation that is passed on
    s.chaos = 30'000 * ms;
  }
  if (s.mutant == Mutant::the_gone_are_too_many) s.kind = Wanted::exclusive;
  if (s.mutant == Mutant::plain_release_is_quiet) s.kind = Wanted::exclusive;
  if (s.mutant == Mutant::plain_extend_shortens) {
    s.kind = Wanted::exclusive;
    s.fencing_per_mille = 0;
    s.restart_guard = false;
  }
  if (s.mutant == Mutant::any_permit_is_quiet) s.kind = Wanted::permits;
  if (s.mutant == Mutant::count_permits) s.kind = Wanted::permits;
  if (s.mutant == Mutant::release_at_once) s.kind = Wanted::interval;
  switch (s.kind) {
    case Wanted::exclusive:
      return;
    case Wanted::several:
    case Wanted::permits:
      s.resources = 2;
      break;
    case Wanted::interval:
      if (s.mutant == Mutant::cooldown_where_the_key_was ||
          (s.mutant == Mutant::none && !s.steady && random.per_mille(300))) {
        return let_one_forget(s, random);
      }
      if (s.mutant == Mutant::memory_is_not_asked_for ||
          (s.mutant == Mutant::none && !s.steady && random.per_mille(400))) {
        return forget_within_intervals(s, random);
      }
      s.longest_interval_ms =
          s.steady ? random.between(1, 30) : random.between(1, 3 * s.longest_ttl_ms);
      break;
    case Wanted::readers:
    case Wanted::owners:
      break;
  }
  if (of_a_kind && !s.steady) s.clients = 4;
}

/// Draws two permits, so that callers wait, or many.
void draw_permits(Scenario& s, std::uint64_t seed) {
  Random random(seed * 29 + 43);
  if (s.kind != Wanted::permits) return;
  if (s.mutant != Mutant::none || !random.per_mille(200)) return;
  s.resources = static_cast<std::size_t>(random.between(17, 24));
  if (s.steady) s.slots = 8;
}

/// Sets the bounds of one script low enough to be reached, and lets clients die while they wait,
/// many of them before one that lives. Draws from a stream of its own.
void draw_bounds(Scenario& s, std::uint64_t seed) {
  Random random(seed * 31 + 47);
  if (s.kind == Wanted::readers) {
    s.let_in_at_once = random.per_mille(500) ? 64 : static_cast<int>(random.between(1, 3));
  }
  if (s.mutant == Mutant::one_more_reader_writes) s.let_in_at_once = 1;
  const bool planted = s.mutant == Mutant::the_gone_are_too_many;
  if (!planted && !(s.steady && s.mutant == Mutant::none && random.per_mille(200))) return;
  s.between_waiter_ends = random.between(20, 200) * ms;
  if (!planted) return;
  // Only a new request finds the next client that lives: think times keep new requests rare.
  s.clients = 8;
  s.slots = 1;
  s.longest_hold = 500 * ms;
  s.think = 1'000 * ms;
  s.between_waiter_ends = 300 * ms;
}

/// Another library's clients among ours.
void draw_foreign(Scenario& s, std::uint64_t seed) {
  Random random(seed * 23 + 41);
  const bool planted = s.mutant == Mutant::wins_are_lost;
  if (!planted && !(s.steady && s.mutant == Mutant::none && random.per_mille(250))) return;
  s.kind = Wanted::exclusive;
  s.longest_interval_ms = 0;
  // The other library waits for ever if half of the nodes refuse.
  s.nodes += 1 - s.nodes % 2;
  s.quorum = core::majority(s.nodes);
  s.resources = 1;
  s.foreign = static_cast<std::size_t>(random.between(1, 8));
  s.foreign_keeps = random.per_mille(700);
  s.tracks = random.per_mille(500);
  // With few clients of ours, the queue is empty now and then. A queue that is never empty would
  // keep all others out.
  if (random.per_mille(600)) {
    s.clients = static_cast<std::size_t>(random.between(1, 3));
    s.slots = 1;
    s.think = random.between(1, 300) * ms;
  }
  s.chaos = 30'000 * ms;
  if (!planted) return;
  s.foreign = 8;
  s.clients = 1;
  s.foreign_keeps = s.tracks = true;
}

/// Nodes that stay replicas for seconds.
void draw_demotions(Scenario& s, std::uint64_t seed) {
  Random random(seed * 37 + 47);
  if (s.mutant != Mutant::none || s.between_role_changes == 0) return;
  s.between_demotions = sometimes(random, 300, 100 * ms, 2'000 * ms);
}

/// Nodes whose scripts somebody flushes.
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

/// Plain commands instead of scripts.
void draw_plain(Scenario& s, std::uint64_t seed) {
  Random random(seed * 19 + 31);
  const bool planted =
      s.mutant == Mutant::plain_extend_shortens || s.mutant == Mutant::plain_release_is_quiet;
  if (s.mutant != Mutant::none && !planted) return;
  s.compares = planted || random.per_mille(400);
  if (planted) s.servers = Servers::modern;
  // A user who runs no scripts has exclusive locks only, and opens no deployment without clocks.
  const bool exclusive = s.kind == Wanted::exclusive && (!s.restart_guard || s.clock_guard) &&
                         s.fencing_per_mille == 0;
  const bool all_compare = s.compares && s.servers == Servers::modern;
  s.runs_scripts = !(all_compare && exclusive && random.per_mille(400));
  if (s.mutant == Mutant::plain_extend_shortens) s.runs_scripts = false;
}

/// Standstills, with clocks that step or without: a holder whose machine stood still notices that
/// as late as a leap.
void draw_standstills(Scenario& s, std::uint64_t seed) {
  Random random(seed * 29 + 41);
  const bool steps = s.between_clock_steps > 0 && !s.any_clocks && !s.judged_by_votes;
  if (s.mutant != Mutant::none || !steps || !random.per_mille(500)) return;
  s.between_standstills = random.between(500, 4'000) * ms;
  if (random.per_mille(500)) s.between_clock_steps = 0;
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

/// Evictions without other faults, with a holder that is notified in time: as for clocks that step.
void evict(Scenario& s) {
  be_calm(s);
  s.shortest_ttl_ms = 2'000;
  s.longest_ttl_ms = 5'000;
  s.between_evictions = 1'000 * ms;
  s.think = 3'000 * ms;  // leases are held for longer than an eviction may go unnoticed
  s.chaos = 30'000 * ms;
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

/// Changes of nodes and connections that no client makes. Draws from a stream of its own.
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

}  // namespace

True Scenario::longest_idle() const noexcept {
  // Three failing calls of the other library (8.0 s, seed 55124254548). If nodes do not notify,
  // luck decides which contender first gives back what it kept. Our clients without scripts keep
  // nothing, so the other library's clients may divide the nodes again and again.
  const True failing_call = 3'300 * ms;
  const True failing_calls = !runs_scripts ? 20 : tracks ? 3 : 6;
  if (foreign > 0 && foreign_keeps) return failing_calls * failing_call;
  // Far nodes learn late of releases: the clients that they notify divide the near nodes, and then
  // the far ones decide. That takes six round trips to them.
  return 20 * ms + 60 * round_trip() + 12 * far;
}

True Scenario::longest_wait() const noexcept {
  const auto callers = static_cast<True>(clients * slots);
  // A caller that needs several resources is queued for one after the other, at worst after all
  // other callers each time. A turn takes four round trips.
  const True turns = kind == Wanted::several ? 2 * callers * 4 * round_trip() : 0;
  // Readers are let in between every two writers.
  return std::max(2'000 * ms, turns) + callers * longest_read + longest_idle();
}

double Scenario::least_used() const noexcept {
  if (kind != Wanted::permits || between_waiter_ends > 0) return 0;
  // A hand-over takes two round trips: a release reaches the node, which notifies the successor,
  // which asks. It takes two more if the hold is as short and nodes pass permits on in different
  // orders.
  const double hold = static_cast<double>(longest_hold) / 2;
  return 0.9 * hold / (hold + 4 * static_cast<double>(round_trip() + far));
}

std::uint32_t Scenario::most_overtaken() const noexcept {
  // Clients that may not run scripts are in no queue.
  const bool has_order = kind == Wanted::exclusive && !beside && runs_scripts && foreign == 0;
  // A client is queued once for all of its callers, which take turns.
  const auto turns = static_cast<std::uint32_t>(slots);
  // Readers get their queue positions by requests of their own, after the attempt.
  if (kind == Wanted::readers && !beside) return 3 * turns;
  return has_order ? turns : std::numeric_limits<std::uint32_t>::max();
}

std::uint32_t Scenario::most_turns() const noexcept {
  // Clients that may not run scripts are in no queue. The use of permits has a bound of its own.
  if (!runs_scripts || foreign > 0 || kind == Wanted::permits) {
    return std::numeric_limits<std::uint32_t>::max();
  }
  // Owners enter again, and several resources are waited for one after the other.
  return static_cast<std::uint32_t>(6 * clients * slots + 24);
}

std::uint64_t Scenario::most_requests() const noexcept {
  // A caller of several resources waits for one at a time, and the other can refuse its next
  // attempt.
  constexpr std::array<std::uint64_t, kinds> most{10, 10, 10, 14, 20, 14};
  return most.at(static_cast<std::size_t>(kind));
}

Scenario Scenario::draw(std::uint64_t seed, Mutant mutant) {
  Scenario s;
  s.mutant = mutant;
  Random random(seed * 13 + 17);
  s.steady = (mutant >= Mutant::cooldown_untold && mutant != Mutant::plain_extend_shortens &&
              mutant != Mutant::downgrade_leaves_a_gap) ||
             (mutant == Mutant::none && random.per_mille(30));
  s.draw_rest(seed);
  return s;
}

Scenario Scenario::draw_steady(std::uint64_t seed) {
  Scenario s;
  s.steady = true;
  s.draw_rest(seed);
  return s;
}

Scenario Scenario::draw_crowd(std::uint64_t seed) {
  Random random(seed * 11 + 5);
  Scenario s = draw_steady(seed);
  constexpr std::array<std::size_t, 6> crowds{2, 4, 8, 16, 32, 64};
  s.clients = crowds[static_cast<std::size_t>(random.below(6))];
  s.kind = static_cast<Wanted>(seed % kinds);
  s.runs_scripts = true;
  s.foreign = 0;
  s.resources = s.kind == Wanted::permits   ? 2
                : s.kind == Wanted::several ? std::min<std::size_t>(s.resources, 2)
                                            : 1;
  draw_permits(s, seed);
  s.slots = 1;
  s.think = random.per_mille(500) ? 1 : 2 * ms;
  // While many clients read for long, no release notifies the others.
  if (s.kind == Wanted::readers && random.per_mille(500)) {
    s.longest_read = random.between(100, 400) * ms;
  }
  return s;
}

void Scenario::draw_rest(std::uint64_t seed) {
  Scenario& s = *this;
  Random random(seed * 2 + 1);
  constexpr std::array<std::size_t, 10> sizes{1, 2, 3, 3, 3, 4, 5, 5, 5, 7};
  s.nodes = sizes[static_cast<std::size_t>(random.below(10))];
  s.quorum = core::majority(s.nodes);
  if (s.quorum < s.nodes && random.per_mille(100)) ++s.quorum;
  s.clients = static_cast<std::size_t>(random.between(2, 4));
  s.slots = static_cast<std::size_t>(random.between(1, 2));
  s.resources = static_cast<std::size_t>(random.between(1, 2));
  s.fastest = random.between(20'000, 1 * ms);
  s.slowest = s.fastest * random.between(1, 5);
  s.tail_per_mille = random.between(0, 30);
  s.tail = random.between(1 * ms, 200 * ms);
  s.shortest_ttl_ms = random.between(50, 500);
  s.longest_ttl_ms = s.shortest_ttl_ms * random.between(1, 5);
  s.server_ppm = random.below(allowed_ppm);
  s.client_ppm = random.below(allowed_ppm);

  s.between_breaks = sometimes(random, 500, 20 * ms, 500 * ms);
  s.between_crashes = sometimes(random, 400, 50 * ms, 1000 * ms);
  s.between_stops = sometimes(random, 400, 50 * ms, 500 * ms);
  s.between_partitions = sometimes(random, 400, 50 * ms, 500 * ms);
  s.between_pauses = sometimes(random, 400, 50 * ms, 500 * ms);
  s.between_client_ends = sometimes(random, 400, 100 * ms, 1000 * ms);
  s.error_per_mille = sometimes(random, 300, 1, 50);
  s.data_loss_per_mille = random.between(0, 500);
  s.late = sometimes(random, 500, 1 * ms, 500 * ms);
  s.think = random.between(1, 20) * ms;
  s.chaos = random.between(500, 1500) * ms;

  // Half of the seeds are aimed at edges: uniform input never comes near them.
  if (random.per_mille(500)) {
    s.shortest_ttl_ms = random.between(1, 30);
    s.longest_ttl_ms = s.shortest_ttl_ms + random.between(1, 100);
    s.server_ppm = s.client_ppm = allowed_ppm;
    s.extreme_rates = true;
    s.last_millisecond = true;
    s.think = random.between(1, 4) * ms;
    s.chaos = random.between(200, 600) * ms;
    s.shortest_limit = random.between(5, 50) * ms;
    // A limit that a healthy node cannot keep is a misconfiguration, not a fault.
    s.longest_limit = std::max(s.shortest_limit * random.between(1, 10), 12 * s.slowest);
  }
  draw_guards(s, seed);
  draw_clocks(s, seed);
  draw_kind(s, seed);
  draw_permits(s, seed);
  draw_wild_clock(s, seed);
  draw_failbacks(s, seed);
  draw_demotions(s, seed);
  draw_plain(s, seed);
  draw_foreign(s, seed);
  draw_bounds(s, seed);
  draw_script_flushes(s, seed);
  draw_standstills(s, seed);
  draw_intruders(s, seed);
  plant_intruders(s);
  if (mutant == Mutant::delay_is_ignored) {
    breaks_per_mille = 500;
    kind = Wanted::exclusive;
    resources = 1;
    runs_scripts = true;
    between_clock_steps = 0;
    any_clocks = judged_by_votes = false;
  }
  if (mutant == Mutant::downgrade_leaves_a_gap || mutant == Mutant::downgrade_is_quiet) {
    downgrades_per_mille = 700;
    kind = Wanted::readers;
    runs_scripts = true;
    longest_interval_ms = 0;
    foreign = 0;
    clients = 4;
    resources = 1;
  }
  if (mutant == Mutant::downgrade_is_quiet) longest_read = 400 * ms;
  if (mutant == Mutant::fast_server_clocks) s.server_ppm = 100'000;
  if (mutant == Mutant::forget_at_once) {
    s.between_crashes = 30 * ms;
    s.data_loss_per_mille = 1000;
    s.restart_guard = s.durable = false;
  }
  const bool of_markers = mutant == Mutant::no_marker_behind_votes ||
                          mutant == Mutant::marker_ahead_of_votes || mutant == Mutant::no_tracking;
  if (mutant == Mutant::tracks_once) {
    s.between_breaks = s.between_crashes = s.between_stops = s.between_partitions = 0;
    s.between_pauses = s.between_client_ends = s.between_saves = s.between_clock_steps = 0;
    s.between_flushes = s.between_role_changes = s.error_per_mille = s.tail_per_mille = 0;
    s.tracks = s.watches = true;
    s.last_millisecond = s.any_clocks = false;
    s.shortest_ttl_ms = 200;
    s.longest_ttl_ms = 400;
    s.longest_limit = 1'000 * ms;
    s.shortest_limit = 100 * ms;
    s.think = 300 * ms;
    s.chaos = 5'000 * ms;
  }
  const bool of_its_own = of_markers || mutant == Mutant::unconditional_write_back ||
                          mutant == Mutant::forget_at_once || mutant == Mutant::no_floor ||
                          mutant == Mutant::floor_unread || mutant == Mutant::no_quarantine;
  if (of_its_own) {
    s.between_clock_steps = 0;
    s.any_clocks = s.judged_by_votes = false;
  }
  if (mutant == Mutant::evictions_untold) evict(s);
  if (mutant == Mutant::half_the_rest) {
    s.between_clock_steps = 0;
    s.any_clocks = s.judged_by_votes = false;
    s.between_partitions = s.between_client_ends = 20 * ms;
  }
  if (mutant == Mutant::half_quorum) {
    s.nodes = random.per_mille(500) ? 2 : 4;
    s.quorum = core::majority(s.nodes);
  }
  if (mutant == Mutant::clock_stops_in_pauses) {
    s.between_pauses = 20 * ms;
    s.fencing_per_mille = 0;  // numbers would be out of order too
  }
  const bool of_a_script = mutant == Mutant::maximum_of_counters ||
                           mutant == Mutant::unconditional_write_back ||
                           mutant == Mutant::count_unseen_numbers;
  if (of_a_script) s.servers = Servers::by_scripts;
  if (mutant == Mutant::trust_the_set) {
    // The fault shows only if a number is raised after the key is gone and somebody else has had
    // it.
    s.any_clocks = true;
    s.servers = Servers::modern;
    s.clock_guard = false;
    s.fencing_per_mille = s.divided_per_mille = 1000;
    s.between_clock_steps = 20 * ms;
    s.resources = 1;
    s.clients = 4;
    s.nodes = s.quorum = 1;
  }
  if (mutant == Mutant::unconditional_write_back) {
    // The fault shows only if a write-back arrives after the key has expired and somebody else has
    // had it.
    s.fencing_per_mille = 1000;
    s.nodes = s.quorum = s.resources = 1;
    s.clients = 4;
    s.between_partitions = s.between_client_ends = 20 * ms;
  }
  if (of_markers) {
    s.nodes = 3;
    s.quorum = 2;
    s.clients = 4;
    s.resources = s.slots = 1;
    s.restart_guard = true;
    s.durable = s.clock_guard = false;
    s.fencing_per_mille = 0;
    s.between_flushes = 20 * ms;
    s.between_role_changes = 0;
    s.data_loss_per_mille = 0;
    s.shortest_ttl_ms = s.longest_ttl_ms = 100;
    s.last_millisecond = false;
    if (mutant == Mutant::marker_ahead_of_votes) s.tail_per_mille = 200;
    if (mutant == Mutant::no_tracking) {
      s.between_flushes = 0;
      s.between_failbacks = s.between_saves = 20 * ms;
    }
  }
  if (mutant == Mutant::floor_unread) {
    s.servers = Servers::modern;
    s.clock_guard = true;
    s.fencing_per_mille = 1000;
  }
  const bool of_losses = mutant == Mutant::no_floor || mutant == Mutant::floor_unread ||
                         mutant == Mutant::no_quarantine;
  if (of_losses) {
    s.between_crashes = 30 * ms;
    s.data_loss_per_mille = 1000;
    s.restart_guard = true;
    s.durable = false;
  }
}

Scenario Scenario::draw_long(std::uint64_t seed) {
  Random random(seed * 7 + 3);
  Scenario s;
  s.kind = static_cast<Wanted>(seed % kinds);
  constexpr std::array<std::size_t, 5> sizes{3, 4, 5, 5, 7};
  s.nodes = sizes[static_cast<std::size_t>(random.below(5))];
  s.quorum = core::majority(s.nodes);
  s.clients = static_cast<std::size_t>(random.between(4, 6));
  s.slots = static_cast<std::size_t>(random.between(1, 2));
  s.resources = s.kind == Wanted::several || s.kind == Wanted::permits ? 2 : 1;
  s.chaos = random.between(180'000, 240'000) * ms;

  s.fastest = random.between(50'000, 1 * ms);
  s.slowest = s.fastest * random.between(1, 5);
  s.tail_per_mille = random.between(1, 30);
  s.tail = random.between(1 * ms, 200 * ms);
  s.shortest_limit = random.between(20, 100) * ms;
  s.longest_limit = std::max(s.shortest_limit * random.between(1, 5), 12 * s.slowest);
  s.shortest_ttl_ms = random.between(20, 100);
  s.longest_ttl_ms = random.between(300, 800);
  if (s.kind == Wanted::interval) {
    // Intervals are no longer than the absence of nodes that forgot, so callers may request
    // different ones.
    s.longest_interval_ms = random.between(1, s.longest_ttl_ms);
  }
  s.last_millisecond = random.per_mille(500);
  s.think = random.between(1, 20) * ms;

  s.between_breaks = random.between(100, 1'000) * ms;
  // A node that forgot has no vote for the longest TTL: a majority should have one now and then.
  s.between_crashes = random.between(2, 10) * s.longest_ttl_ms * ms;
  s.between_stops = random.between(500, 4'000) * ms;
  s.between_partitions = random.between(200, 2'000) * ms;
  s.between_pauses = random.between(500, 4'000) * ms;
  s.between_client_ends = random.between(1'000, 6'000) * ms;
  s.error_per_mille = random.between(1, 20);
  s.late = random.between(1, 500) * ms;
  s.restart_guard = true;
  s.data_loss_per_mille = random.between(100, 700);
  s.snapshot_per_mille = random.between(0, 700);
  s.between_saves = random.between(50, 500) * ms;
  s.between_flushes = random.between(4, 20) * s.longest_ttl_ms * ms;
  s.between_role_changes = random.between(4, 20) * s.longest_ttl_ms * ms;

  // Over minutes, clocks at the edge of the allowance would be seconds apart: too far for the clock
  // guard and, if nodes forget, for the floor of fencing tokens.
  constexpr std::int64_t ordinary_ppm = 200;
  s.server_ppm = s.client_ppm = ordinary_ppm;
  s.clock_guard = random.per_mille(500);
  const True rates = (s.chaos + 60'000 * ms) / 1'000'000 * 2 * ordinary_ppm + 1 * ms;
  s.node_skew = s.client_skew = random.below((s.longest_ttl_ms * ms - rates) / 2);
  s.fencing_per_mille = random.per_mille(700) ? random.between(1, 1000) : 0;
  s.servers = draw_servers(random);
  s.divided_per_mille = random.below(100);
  Random failbacks(seed * 17 + 29);
  s.between_failbacks = failbacks.between(8, 40) * s.longest_ttl_ms * ms;
  return s;
}

}  // namespace redlock::simulation
