#include <algorithm>

#include "core/engine.hpp"

namespace redlock::core {

void Engine::note_free_places(Acquisition& acquisition, std::string_view free) {
  const std::size_t told = std::min(free.size(), acquisition.free_places.size());
  for (std::size_t place = 0; place < told; ++place) {
    if (free[place] == '1') ++acquisition.free_places[place];
  }
}

void Engine::choose_place(Acquisition& acquisition) {
  std::vector<std::uint8_t>& free = acquisition.free_places;
  const std::uint8_t most = *std::max_element(free.begin(), free.end());
  // Any of the best: contenders that all took the first would divide its nodes among them.
  const auto best = std::count(free.begin(), free.end(), most);
  auto skip = random_->between(Duration::zero(), Duration(best - 1)).count();
  for (std::uint32_t place = 0; place < free.size(); ++place) {
    if (free[place] != most || skip-- > 0) continue;
    acquisition.place = place;
    break;
  }
  // What was told is old by the next attempt.
  std::fill(free.begin(), free.end(), std::uint8_t{0});
}

bool Engine::may_change_place(const Acquisition& acquisition) const {
  if (acquisition.places == 0 || acquisition.moves >= acquisition.places) return false;
  if (acquisition.give_up && now_ >= *acquisition.give_up) return false;
  const auto& free = acquisition.free_places;
  return *std::max_element(free.begin(), free.end()) >= settings_.quorum;
}

}  // namespace redlock::core
