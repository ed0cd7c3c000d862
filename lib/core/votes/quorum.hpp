#pragma once

#include <cstddef>
#include <cstdint>

#include "redlock/limits.hpp"

namespace redlock::core {

/// ⌊N/2⌋ + 1. Any two majorities share a node, which is what makes the lock exclusive.
[[nodiscard]] constexpr std::size_t majority(std::size_t nodes) noexcept { return nodes / 2 + 1; }

enum class Verdict : std::uint8_t { pending, won, lost };

/// The counted votes of one round. `denied` counts everything that is not a grant: refused, failed,
/// excluded.
struct Tally {
  std::size_t nodes = 0;
  std::size_t quorum = 0;
  std::size_t granted = 0;
  std::size_t denied = 0;
};

/// The verdict on a round, final in both directions as soon as the missing votes cannot change it.
/// An even N is decided, too: of four nodes with a quorum of three, two denials lose the round.
[[nodiscard]] constexpr Verdict verdict(const Tally& tally) noexcept {
  if (tally.granted >= tally.quorum) return Verdict::won;
  if (tally.denied + tally.quorum > tally.nodes) return Verdict::lost;
  return Verdict::pending;
}

namespace detail {
constexpr bool every_complete_tally_is_decided() {
  for (std::size_t nodes = 1; nodes <= limits::nodes; ++nodes) {
    for (std::size_t quorum = majority(nodes); quorum <= nodes; ++quorum) {
      for (std::size_t granted = 0; granted <= nodes; ++granted) {
        if (verdict({nodes, quorum, granted, nodes - granted}) == Verdict::pending) return false;
      }
    }
  }
  return true;
}
}  // namespace detail
static_assert(detail::every_complete_tally_is_decided());

}  // namespace redlock::core
