#pragma once

#include "redlock/language.hpp"

#include <cstdint>

#include "redlock/export.hpp"

namespace redlock {

/// Counts since the client was created.
struct REDLOCK_EXPORT Counters {
  /// Leases with a fencing token that a quorum acknowledged in the acquire's only round trip.
  std::uint64_t fenced_in_one_round = 0;
  /// Leases that took another round trip, because the clocks of the clients are apart.
  std::uint64_t fenced_in_more_rounds = 0;
};

}  // namespace redlock
