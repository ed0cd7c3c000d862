#include "core/waiting/acquisition.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {

void Acquisition::begin(const Acquire& event, Instant now) {
  terms.assign(event);
  // No TTL above the longest hold is requested.
  if (event.renewal && event.renewal->max_hold < event.ttl) {
    terms.ttl = std::chrono::floor<std::chrono::milliseconds>(event.renewal->max_hold);
  }
  const KindTraits& kind = terms.traits();
  const bool waits = event.wait > Duration::zero();
  state = State::backing_off;
  wants_remaining = event.wants_remaining || waits || event.orphan_ttl.has_value();
  renewal = event.renewal;
  fencing = event.fencing;
  began = now;
  give_up = waits ? std::optional(later(now, event.wait)) : std::nullopt;
  first_round.reset();
  attempts = failed_attempts = 0;
  hopeless_since.reset();
  waits_for_space = reconnected = is_waiting = has_last = false;
  by_script = kind.by_script;
  reserves = waits && !kind.is_chosen;
  permit_changes = 0;
  free_permits.assign(event.permits, 0);
  claim = {};
  waiting = Waiting();
  refusal = Refusal();
}

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
  if (!terms.traits().is_chosen || permit_changes >= terms.permits) return false;
  if (give_up && now >= *give_up) return false;
  return *std::max_element(free_permits.begin(), free_permits.end()) >= quorum;
}

}  // namespace redlock::core
