#include "core/validity_basis.hpp"

#include <algorithm>

#include "core/node_clock.hpp"

namespace redlock::core {

Instant ValidityBasis::deadline(const StepMarks& now, std::size_t quorum) const noexcept {
  if (nodes.size() < quorum) return Instant::min();
  std::array<Duration, limits::nodes> lost{};
  std::size_t count = 0;
  bool stepped = false;
  nodes.each([&](NodeIndex node) {
    const bool countable = now[node] != NodeClock::uncountable;
    lost[count] = countable ? now[node] - steps[node] : Duration::max();
    stepped = stepped || lost[count] != Duration::zero();
    ++count;
  });
  if (!stepped) return until;
  const auto nth = lost.begin() + static_cast<std::ptrdiff_t>(quorum - 1);
  std::nth_element(lost.begin(), nth, lost.begin() + static_cast<std::ptrdiff_t>(count));
  return later(until, -*nth);
}

}  // namespace redlock::core
