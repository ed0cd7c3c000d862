#include <algorithm>

#include "core/engine.hpp"

namespace redlock::core {

void Engine::note_free_permits(Acquisition& acquisition, std::string_view free) {
  const std::size_t known = std::min(free.size(), acquisition.free_permits.size());
  for (std::size_t permit = 0; permit < known; ++permit) {
    if (free[permit] == '1') ++acquisition.free_permits[permit];
  }
}

void Engine::choose_permit(Acquisition& acquisition) {
  std::vector<std::uint8_t>& free = acquisition.free_permits;
  const std::uint8_t most = *std::max_element(free.begin(), free.end());
  // Any of the best: contenders that all took the first would divide its nodes among them.
  const auto best = std::count(free.begin(), free.end(), most);
  auto skip = random_.between(Duration::zero(), Duration(best - 1)).count();
  for (std::uint32_t permit = 0; permit < free.size(); ++permit) {
    if (free[permit] != most || skip-- > 0) continue;
    acquisition.permit = permit;
    break;
  }
  // The answers are old by the next attempt.
  std::fill(free.begin(), free.end(), std::uint8_t{0});
}

bool Engine::may_change_permit(const Acquisition& acquisition) const {
  if (acquisition.terms.permits == 0 || acquisition.moves >= acquisition.terms.permits)
    return false;
  if (acquisition.give_up && now_ >= *acquisition.give_up) return false;
  const auto& free = acquisition.free_permits;
  return *std::max_element(free.begin(), free.end()) >= settings_.quorum;
}

}  // namespace redlock::core
