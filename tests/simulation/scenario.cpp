#include "simulation/scenario.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/votes/quorum.hpp"
#include "simulation/random.hpp"
#include "simulation/scenario_draws.hpp"

namespace redlock::simulation {

namespace {

/// The drift allowance, 1 % of the TTL, covers two clocks whose rates differ by that much: just
/// under half for each.
constexpr std::int64_t allowed_ppm = 4'900;

}  // namespace

Scenario Scenario::draw(std::uint64_t seed, Mutant mutant) {
  if (is_of_reigns(mutant)) return draw_replicated(seed, mutant);
  Scenario s;
  s.mutant = mutant;
  Random random(seed * 13 + 17);
  s.steady = (mutant >= Mutant::cooldown_untold && mutant < Mutant::downgrade_leaves_a_gap &&
              mutant != Mutant::plain_extend_shortens) ||
             (mutant == Mutant::none && random.per_mille(30));
  s.draw_rest(seed);
  draws::draw_long_holds(s, seed);
  return s;
}

Scenario Scenario::draw_steady(std::uint64_t seed) {
  Scenario s;
  s.steady = true;
  s.draw_rest(seed);
  draws::draw_long_holds(s, seed);
  return s;
}

Scenario Scenario::draw_crowd(std::uint64_t seed) {
  using namespace draws;
  Random random(seed * 11 + 5);
  Scenario s;
  s.steady = true;
  s.draw_rest(seed);
  constexpr std::array<std::size_t, 6> crowds{2, 4, 8, 16, 32, 64};
  s.clients = crowds[static_cast<std::size_t>(random.below(6))];
  s.kind = static_cast<Wanted>(seed % kinds);
  s.runs_scripts = true;
  s.foreign = 0;
  s.resources = s.kind == Wanted::permits   ? 2
                : s.kind == Wanted::several ? std::min<std::size_t>(s.resources, 2)
                                            : 1;
  draw_permits(s, seed);
  if (s.kind == Wanted::several) s.between_freezes = 0;
  s.slots = 1;
  s.think = random.per_mille(500) ? 1 : 2 * ms;
  // While many clients read for long, no release notifies the others.
  if (s.kind == Wanted::readers && random.per_mille(500)) {
    s.longest_read = random.between(100, 400) * ms;
  }
  return s;
}

void Scenario::draw_rest(std::uint64_t seed) {
  using namespace draws;
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
  draw_counters(s, seed);
  draw_intruders(s, seed);
  plant_intruders(s);
  draw_handing_on(s, seed);
  draw_operator(s, seed);
  draw_freezes(s, seed);
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
                          mutant == Mutant::marker_ahead_of_votes ||
                          mutant == Mutant::no_tracking || mutant == Mutant::roles_are_copies;
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
  if (mutant >= Mutant::falls_prove_nothing_evicted && mutant <= Mutant::copies_prove_nothing &&
      mutant != Mutant::roles_are_copies) {
    reset_counters(s);
  }
  if (mutant == Mutant::resets_are_evictions || mutant == Mutant::copies_prove_nothing) {
    s.between_evictions = 0;
  }
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
    if (mutant == Mutant::no_tracking || mutant == Mutant::roles_are_copies) {
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
  using namespace draws;
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

Scenario Scenario::draw_replicated(std::uint64_t seed, Mutant mutant) {
  using namespace draws;
  Random random(seed * 19 + 13);
  Scenario s;
  s.mutant = mutant;
  constexpr std::array<std::size_t, 6> sizes{1, 1, 1, 2, 3, 3};
  s.nodes = sizes[static_cast<std::size_t>(random.below(6))];
  s.quorum = core::majority(s.nodes);
  s.replicated = static_cast<std::size_t>(random.between(1, static_cast<True>(s.nodes)));
  s.servers_of_each = random.per_mille(700) ? 3 : 5;
  s.clients = static_cast<std::size_t>(random.between(2, 4));
  s.slots = static_cast<std::size_t>(random.between(1, 2));
  s.resources = static_cast<std::size_t>(random.between(1, 2));
  s.fastest = random.between(20'000, 300'000);
  s.slowest = s.fastest * random.between(1, 5);
  s.tail_per_mille = random.between(0, 30);
  s.tail = random.between(1, 50) * ms;
  s.shortest_ttl_ms = random.between(50, 200);
  s.longest_ttl_ms = s.shortest_ttl_ms * random.between(1, 2);
  s.shortest_limit = random.between(20, 100) * ms;
  s.longest_limit = s.shortest_limit * random.between(1, 5);
  s.think = random.between(1, 20) * ms;
  s.chaos = random.between(8'000, 20'000) * ms;
  s.restart_guard = true;
  s.between_changes_of_roles = random.between(100, 1'000) * ms;
  // Some leases are long enough to outlive a failover.
  Random longer(seed * 23 + 31);
  if (mutant == Mutant::none && longer.per_mille(400)) {
    s.shortest_ttl_ms = longer.between(2'000, 8'000);
    s.longest_ttl_ms = s.shortest_ttl_ms + longer.below(2'000);
    s.between_changes_of_roles = longer.between(2'000, 8'000) * ms;
    s.chaos = longer.between(20'000, 60'000) * ms;
  }
  s.undone_failovers_per_mille = sometimes(random, 300, 1, 500);
  s.torn_readings_per_mille = sometimes(random, 500, 1, 200);
  s.between_breaks = sometimes(random, 500, 100 * ms, 2'000 * ms);
  s.between_crashes = sometimes(random, 400, 500 * ms, 4'000 * ms);
  s.between_stops = sometimes(random, 400, 200 * ms, 2'000 * ms);
  s.between_partitions = sometimes(random, 400, 100 * ms, 2'000 * ms);
  s.between_pauses = sometimes(random, 400, 200 * ms, 2'000 * ms);
  s.between_client_ends = sometimes(random, 400, 500 * ms, 4'000 * ms);
  s.between_deaths = sometimes(random, 200, 200 * ms, 2'000 * ms);
  s.between_saves = random.between(50, 500) * ms;
  s.data_loss_per_mille = random.between(200, 1000);
  s.snapshot_per_mille = random.between(0, 700);
  s.error_per_mille = sometimes(random, 200, 1, 20);
  s.late = sometimes(random, 500, 1 * ms, 500 * ms);
  s.last_millisecond = random.per_mille(500);
  s.servers = draw_servers(random);
  s.compares = random.per_mille(300);
  s.divided_per_mille = sometimes(random, 300, 1, 100);
  s.fencing_per_mille = random.per_mille(500) ? random.between(1, 1000) : 0;
  // As for nodes that forget: see draw_guards(). And no clock is too far for the clock guard.
  constexpr std::int64_t ordinary_ppm = 200;
  s.server_ppm = s.client_ppm = ordinary_ppm;
  const True rates = (s.chaos + 60'000 * ms) / 1'000'000 * 2 * ordinary_ppm + 1 * ms;
  s.node_skew = s.client_skew =
      std::min(random.below(std::max<True>(1, (s.longest_ttl_ms * ms - rates) / 2)), 450 * ms);
  if (mutant != Mutant::none) {
    s.nodes = s.quorum = s.replicated = s.resources = 1;
    s.servers_of_each = 3;
    s.clients = 4;
    s.between_breaks = 200 * ms;
    s.between_changes_of_roles = 200 * ms;
    s.fencing_per_mille = 0;
  }
  const bool of_a_reading =
      mutant == Mutant::attachments_before_wait || mutant == Mutant::records_follow_each_reading;
  if (of_a_reading) {
    // The faults show only if a whole reign of another server fits into one reading.
    s.between_crashes = s.between_stops = s.between_partitions = s.between_pauses = 0;
    s.between_client_ends = s.between_deaths = s.tail_per_mille = s.error_per_mille = s.late = 0;
    s.shortest_ttl_ms = s.longest_ttl_ms = 100;
    s.shortest_limit = s.longest_limit = 2'000 * ms;
    s.think = 100 * ms;
    s.last_millisecond = false;
  }
  if (mutant == Mutant::records_follow_each_reading) {
    s.torn_readings_per_mille = 300;
    s.shortest_ttl_ms = s.longest_ttl_ms = 200;
    s.clients = 6;
    s.undone_failovers_per_mille = 1000;
    s.between_changes_of_roles = 1'500 * ms;
    s.chaos = 30'000 * ms;
  }
  if (mutant != Mutant::none) return s;
  s.clock_guard = random.per_mille(500);
  constexpr std::array others{Wanted::readers, Wanted::owners, Wanted::several, Wanted::permits,
                              Wanted::interval};
  if (random.per_mille(300)) s.kind = others[static_cast<std::size_t>(random.below(5))];
  if (s.kind == Wanted::several || s.kind == Wanted::permits) s.resources = 2;
  if (s.kind == Wanted::interval) s.longest_interval_ms = random.between(1, 3 * s.longest_ttl_ms);
  draw_bounds(s, seed);
  draw_handing_on(s, seed);
  draw_operator(s, seed);
  return s;
}

}  // namespace redlock::simulation
