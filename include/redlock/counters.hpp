#pragma once

#include <cstdint>

namespace redlock {

/// What a client has counted since it was created.
struct Counters {
  /// Leases with a fencing token that a quorum acknowledged in the acquire's only round trip.
  std::uint64_t fenced_in_one_round = 0;
  /// Those that took another one, because a number was already as high: clocks that are apart.
  std::uint64_t fenced_in_more_rounds = 0;
};

}  // namespace redlock
