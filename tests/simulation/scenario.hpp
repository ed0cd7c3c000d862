#pragma once

#include <cstdint>

#include "simulation/clock.hpp"

namespace redlock::simulation {

/// Planted faults outside the core, which the checkers must find. One at a time.
enum class Mutant : std::uint8_t {
  none,
  drop_release_behind_set,   ///< the driver drops a release that follows an unanswered SET
  validity_from_last_reply,  ///< the driver counts the validity from the last answer
  no_drift_margin,           ///< the driver adds to the validity what was taken off for drift
  ignore_kill,               ///< nodes answer CLIENT KILL and do nothing
  fast_server_clocks,        ///< nodes' clocks run beyond the drift allowance
  forget_at_once,            ///< a crashed node is back at once without its data
  release_without_compare,   ///< nodes delete whatever key there is
  set_without_nx,            ///< nodes overwrite
  grant_a_refusal,           ///< the driver takes one refusal in a hundred for a grant
  answer_twice,              ///< the driver delivers answers twice
  sleepy_driver,             ///< the driver sleeps through its deadlines
  forget_answer,             ///< the driver drops an answer to the caller
};

/// What one seed is made of: drawn anew for each, so that every mix of faults comes up.
struct Scenario {
  std::size_t nodes = 5;
  std::size_t quorum = 3;
  std::size_t clients = 3;
  std::size_t slots = 1;  ///< threads of a client that lock
  std::size_t resources = 1;

  True fastest = 50'000;  ///< one way
  True slowest = 500'000;
  std::int64_t tail_per_mille = 10;  ///< messages that take up to `tail`
  True tail = 20 * ms;

  std::int64_t shortest_ttl_ms = 100;
  std::int64_t longest_ttl_ms = 1000;
  True shortest_limit = 100 * ms;
  True longest_limit = 1000 * ms;
  std::int64_t server_ppm = 0;  ///< clocks run at up to this rate, faster or slower
  std::int64_t client_ppm = 0;
  bool extreme_rates = false;  ///< at exactly this rate

  // Mean time between faults; 0: none.
  True between_breaks = 0;
  True between_crashes = 0;
  True between_stops = 0;
  True between_partitions = 0;
  True between_pauses = 0;
  True between_client_ends = 0;
  std::int64_t error_per_mille = 0;
  std::int64_t data_loss_per_mille = 0;  ///< of the crashes
  True late = 0;                         ///< how late what a dropped connection carried is executed

  bool last_millisecond = false;  ///< holders and contenders act around the deadline
  True think = 2 * ms;            ///< between a caller's locks
  True chaos = 2'000 * ms;        ///< then everything is healed

  Mutant mutant = Mutant::none;

  [[nodiscard]] static Scenario draw(std::uint64_t seed, Mutant mutant = Mutant::none);
};

}  // namespace redlock::simulation
