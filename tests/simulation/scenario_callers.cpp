#include <array>
#include <cstddef>

#include "core/votes/quorum.hpp"
#include "simulation/scenario_draws.hpp"

// Callers: their number, the kinds of their requests, and callers of another library.
namespace redlock::simulation::draws {
namespace {

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

}  // namespace

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
    s.longest_hold = 400 * ms;  // longer than several reservations that are passed on
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

void draw_permits(Scenario& s, std::uint64_t seed) {
  Random random(seed * 29 + 43);
  if (s.kind != Wanted::permits) return;
  if (s.mutant != Mutant::none || !random.per_mille(200)) return;
  s.resources = static_cast<std::size_t>(random.between(17, 24));
  if (s.steady) s.slots = 8;
}

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

void draw_freezes(Scenario& s, std::uint64_t seed) {
  Random random(seed * 47 + 61);
  const bool planted =
      s.mutant == Mutant::only_the_last_stands_by || s.mutant == Mutant::the_late_stay_first;
  if (planted) {
    s.kind = Wanted::exclusive;
    s.foreign = 0;
    s.clients = 4;
    s.resources = 1;
    s.between_freezes = 1'000 * ms;
    s.chaos = 10'000 * ms;
  }
  // A client that hangs may keep the first of several resources from everybody for a whole turn.
  const bool suits = s.steady && s.runs_scripts && s.foreign == 0 && s.kind != Wanted::several;
  if (s.mutant != Mutant::none || !suits || !random.per_mille(200)) return;
  s.between_freezes = random.between(100, 1'000) * ms;
}

void draw_long_holds(Scenario& s, std::uint64_t seed) {
  Random random(seed * 37 + 59);
  const bool planted =
      s.mutant == Mutant::kept_while_it_waits || s.mutant == Mutant::leaves_one_of_several;
  const bool drawn = s.steady && s.kind == Wanted::several && s.mutant == Mutant::none;
  if (!planted && !(drawn && random.per_mille(300))) return;
  s.kind = Wanted::several;
  s.beside = Wanted::exclusive;
  s.own_resource = s.runs_scripts = true;
  s.several_per_mille = 1000;
  s.resources = 2;
  s.slots = 1;
  s.clients = static_cast<std::size_t>(random.between(5, 10));
  s.first_clients = static_cast<std::size_t>(random.between(1, 3));
  s.long_hold = random.between(100, 2'000) * ms;
  s.chaos = 10'000 * ms;
  if (!planted) return;
  s.foreign = 0;
  s.longest_interval_ms = s.between_waiter_ends = 0;
  s.long_hold = 8'000 * ms;
  s.shortest_ttl_ms = s.longest_ttl_ms = 20'000;
  s.chaos = 20'000 * ms;
  // Between the calls of its callers alone, a resource is free.
  s.think = s.mutant == Mutant::kept_while_it_waits ? 200 * ms : 30 * ms;
  if (s.mutant == Mutant::kept_while_it_waits) return;
  s.all_give_up = true;
  s.longest_hold = 30 * ms;
}

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

void draw_handing_on(Scenario& s, std::uint64_t seed) {
  Random random(seed * 47 + 61);
  const bool planted = s.mutant >= Mutant::lost_is_handed_out;
  if (s.mutant != Mutant::none && !planted) return;
  const bool clocks_step = s.between_clock_steps + s.between_standstills + s.between_evictions > 0;
  if (!planted && (s.steady || clocks_step || s.any_clocks || s.judged_by_votes)) return;
  s.gives_per_mille = planted ? 700 : sometimes(random, 300, 100, 600);
  if (!planted) return;
  hand_on_in_a_slow_network(s, random);
  if (s.mutant == Mutant::adopted_writers_stay) s.kind = Wanted::readers;
  if (s.mutant == Mutant::number_is_not_checked) s.fencing_per_mille = 1000;
}

void hand_on_in_a_slow_network(Scenario& s, Random& random) {
  s.between_breaks = s.between_crashes = s.between_stops = s.between_partitions = 0;
  s.between_pauses = s.between_saves = s.late = s.between_client_ends = 0;
  s.between_flushes = s.between_role_changes = s.between_clock_steps = 0;
  s.between_demotions = s.between_failbacks = s.between_standstills = s.between_evictions = 0;
  s.between_forgeries = s.between_swaps = s.between_silences = s.between_deaths = 0;
  s.between_counter_resets = s.between_copies = s.between_operations = 0;
  s.error_per_mille = s.divided_per_mille = 0;
  s.any_clocks = s.judged_by_votes = false;
  s.node_skew = s.client_skew = 100 * ms;
  s.kind = Wanted::exclusive;
  s.longest_interval_ms = 0;
  s.runs_scripts = true;
  s.nodes = random.per_mille(500) ? 3 : 5;
  s.quorum = core::majority(s.nodes);
  s.far_nodes = 0;
  s.clients = 4;
  s.resources = 1;
  s.slots = 2;
  s.fastest = 100'000;
  s.slowest = 1 * ms;
  s.shortest_ttl_ms = random.between(60, 200);
  s.longest_ttl_ms = 2 * s.shortest_ttl_ms;
  // Requests can be late by more than a TTL, and their connections stay.
  s.tail_per_mille = random.between(2, 40);
  s.tail = random.between(1, 3 * s.longest_ttl_ms) * ms;
  s.shortest_limit = 8 * s.longest_ttl_ms * ms;
  s.longest_limit = 2 * s.shortest_limit;
  s.think = random.between(1, 100) * ms;  // some callers are idle, and can be given a lease
  s.chaos = 5'000 * ms;
}

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

void draw_operator(Scenario& s, std::uint64_t seed) {
  Random random(seed * 41 + 7);
  const bool is_planted =
      s.mutant >= Mutant::delay_is_ignored && s.mutant <= Mutant::owner_is_spared;
  if (is_planted) {
    s.kind = s.mutant == Mutant::delay_is_ignored  ? Wanted::exclusive
             : s.mutant == Mutant::owner_is_spared ? Wanted::owners
                                                   : Wanted::readers;
    s.resources = 1;
    s.runs_scripts = true;
    s.between_clock_steps = s.between_standstills = s.between_evictions = 0;
    s.any_clocks = s.judged_by_votes = s.watches = false;
    s.longest_interval_ms = 0;
  }
  // What the late requests of several owners set adds up, also if one of them was an operator.
  if (!s.suits_operators() || s.gives_per_mille > 0) return;
  if (s.mutant != Mutant::none && !is_planted) return;
  if (is_planted || random.per_mille(150)) s.add_operator(random.between(5, 100) * ms);
}

}  // namespace redlock::simulation::draws
