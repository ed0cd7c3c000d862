#include "core/waiting/acquisition.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::core {

void Acquisition::begin(By<Attempts> /*their*/, const Acquire& event, Instant now) {
  terms.by(me).assign(event);
  // No TTL above the longest hold is requested.
  if (event.renewal && event.renewal->max_hold < event.ttl) {
    terms.by(me).ttl = std::chrono::floor<std::chrono::milliseconds>(event.renewal->max_hold);
  }
  const KindTraits& kind = terms->traits();
  const bool waits = event.wait > Duration::zero();
  state.by(me) = State::backing_off;
  wants_remaining.by(me) = event.wants_remaining || waits || event.orphan_ttl.has_value();
  renewal.by(me) = event.renewal;
  fencing.by(me) = event.fencing;
  began.by(me) = now;
  give_up.by(me) = waits ? std::optional(later(now, event.wait)) : std::nullopt;
  first_round.by(me).reset();
  attempts.by(me) = failed_attempts.by(me) = 0;
  hopeless_since.by(me).reset();
  waits_for_space.by(me) = reconnected.by(me) = is_waiting.by(me) = has_last.by(me) = false;
  by_script.by(me) = kind.by_script;
  reserves.by(me) = waits && !kind.is_chosen;
  permit_changes.by(me) = 0;
  free_permits.by(me).assign(event.permits, 0);
  claim.by(me) = {};
  waiting.by(me) = Waiting();
  refusal.by(me) = Refusal();
}

void Acquisition::lose(By<Attempts> their, const Round& round, Errc why) {
  last.by(me) = round;
  lose(their, why);
}

void Acquisition::note_free_permits(By<KeyNotes> /*their*/, std::string_view free) {
  const std::size_t known = std::min(free.size(), free_permits->size());
  for (std::size_t each = 0; each < known; ++each) {
    if (free[each] == '1') ++free_permits.by(me)[each];
  }
}

void Acquisition::choose_permit(By<Attempts> /*their*/, Randomness& random) {
  const std::uint8_t most = *std::max_element(free_permits->begin(), free_permits->end());
  // A random one of the best: contenders that all tried the first one would split its nodes.
  const auto best = std::count(free_permits->begin(), free_permits->end(), most);
  auto skip = random.between(Duration::zero(), Duration(best - 1)).count();
  for (std::uint32_t each = 0; each < free_permits->size(); ++each) {
    if (free_permits.read()[each] != most || skip-- > 0) continue;
    permit.by(me) = each;
    break;
  }
  // The answers are outdated by the next attempt.
  std::fill(free_permits.by(me).begin(), free_permits.by(me).end(), std::uint8_t{0});
}

bool Acquisition::may_change_permit(Instant now, std::size_t quorum) const {
  if (!terms->traits().is_chosen || permit_changes >= terms->permits) return false;
  if (give_up && now >= *give_up) return false;
  return *std::max_element(free_permits->begin(), free_permits->end()) >= quorum;
}

}  // namespace redlock::core
