#include "core/votes/fencing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

namespace redlock::core {

std::uint64_t fencing_number_at(Duration wall_clock) noexcept {
  const auto microseconds = std::chrono::floor<std::chrono::microseconds>(wall_clock).count();
  return microseconds > 0 ? static_cast<std::uint64_t>(microseconds) : 0;
}

std::size_t FencingNumbers::slot_of(std::string_view resource) noexcept {
  return std::hash<std::string_view>()(resource) % slots;
}

void FencingNumbers::note(std::string_view resource, std::uint64_t number) noexcept {
  std::uint64_t& highest = highest_[slot_of(resource)];
  highest = std::max(highest, number);
}

void FencingNumbers::forget(std::string_view resource) noexcept { highest_[slot_of(resource)] = 0; }

bool FencingNumbers::was_behind(std::string_view resource) const noexcept {
  return behind_[slot_of(resource)];
}

void FencingNumbers::note_behind(std::string_view resource, bool behind) noexcept {
  behind_[slot_of(resource)] = behind;
}

std::uint64_t FencingNumbers::propose(std::string_view resource,
                                      Duration wall_clock) const noexcept {
  const std::uint64_t clock = fencing_number_at(wall_clock);
  const std::uint64_t seen = highest_[slot_of(resource)] + 1;
  return seen <= fencing_number_at(wall_clock + fence_reach) ? std::max(clock, seen) : clock;
}

}  // namespace redlock::core
