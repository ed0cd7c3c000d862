#include "simulation/scenario.hpp"

#include <algorithm>
#include <array>

#include "core/quorum.hpp"
#include "simulation/random.hpp"

namespace redlock::simulation {
namespace {

/// 1 % of the TTL covers two clocks whose rates differ by that much: just under half for each.
constexpr std::int64_t allowed_ppm = 4'900;

True sometimes(Random& random, std::int64_t per_mille, True from, True to) {
  return random.per_mille(per_mille) ? random.between(from, to) : 0;
}

}  // namespace

Scenario Scenario::draw(std::uint64_t seed, Mutant mutant) {
  Random random(seed * 2 + 1);
  Scenario s;
  s.mutant = mutant;
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
    // A limit that a healthy node can not keep is a misconfiguration, no fault.
    s.longest_limit = std::max(s.shortest_limit * random.between(1, 10), 12 * s.slowest);
  }
  if (mutant == Mutant::fast_server_clocks) s.server_ppm = 100'000;
  if (mutant == Mutant::forget_at_once) {
    s.between_crashes = 30 * ms;
    s.data_loss_per_mille = 1000;
  }
  return s;
}

}  // namespace redlock::simulation
