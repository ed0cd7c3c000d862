#include "core/waiting/acquisition.hpp"

#include <algorithm>

namespace redlock::core {

void Acquisition::lose(const Round& round, Errc why) {
  last = round;
  lose(why);
}

void Acquisition::lose(Errc why) {
  has_last = true;
  refusal = refusal_by(last, why, terms, waiting.blocked_by);
}

void Acquisition::note_free_permits(std::string_view free) {
  const std::size_t known = std::min(free.size(), free_permits.size());
  for (std::size_t each = 0; each < known; ++each) {
    if (free[each] == '1') ++free_permits[each];
  }
}

void Acquisition::choose_permit(Randomness& random) {
  const std::uint8_t most = *std::max_element(free_permits.begin(), free_permits.end());
  // A random one of the best: contenders that all tried the first one would split its nodes.
  const auto best = std::count(free_permits.begin(), free_permits.end(), most);
  auto skip = random.between(Duration::zero(), Duration(best - 1)).count();
  for (std::uint32_t each = 0; each < free_permits.size(); ++each) {
    if (free_permits[each] != most || skip-- > 0) continue;
    permit = each;
    break;
  }
  // The answers are outdated by the next attempt.
  std::fill(free_permits.begin(), free_permits.end(), std::uint8_t{0});
}

bool Acquisition::may_change_permit(Instant now, std::size_t quorum) const {
  if (!terms.traits().is_chosen || moves >= terms.permits) return false;
  if (give_up && now >= *give_up) return false;
  return *std::max_element(free_permits.begin(), free_permits.end()) >= quorum;
}

}  // namespace redlock::core
