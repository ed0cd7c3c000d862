#include "core/votes/validity_basis.hpp"

#include <algorithm>

namespace redlock::core {

Instant ValidityBasis::deadline(const SharedMarks& now, std::size_t quorum) const noexcept {
  if (nodes.size() < quorum) return Instant::min();
  if (!now) return until;
  std::array<Duration, limits::nodes> lost{};
  std::size_t count = 0;
  bool stepped = false;
  nodes.each([&](NodeIndex node) {
    const Duration mark = (*now)[node];
    const Duration before = steps ? (*steps)[node] : Duration::zero();
    lost[count] = mark != uncountable_steps ? mark - before : Duration::max();
    stepped = stepped || lost[count] != Duration::zero();
    ++count;
  });
  if (!stepped) return until;
  const auto nth = lost.begin() + static_cast<std::ptrdiff_t>(quorum - 1);
  std::nth_element(lost.begin(), nth, lost.begin() + static_cast<std::ptrdiff_t>(count));
  return later(until, -*nth);
}

}  // namespace redlock::core
