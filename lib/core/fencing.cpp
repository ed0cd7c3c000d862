#include "core/fencing.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

namespace redlock::core {

std::uint64_t fence_number(Duration wall_clock) noexcept {
  const auto microseconds = std::chrono::floor<std::chrono::microseconds>(wall_clock).count();
  return microseconds > 0 ? static_cast<std::uint64_t>(microseconds) : 0;
}

std::size_t FenceMemory::place_of(std::string_view resource) noexcept {
  return std::hash<std::string_view>()(resource) % places;
}

void FenceMemory::note(std::string_view resource, std::uint64_t number) noexcept {
  std::uint64_t& highest = highest_[place_of(resource)];
  highest = std::max(highest, number);
}

void FenceMemory::forget(std::string_view resource) noexcept { highest_[place_of(resource)] = 0; }

std::uint64_t FenceMemory::propose(std::string_view resource, Duration wall_clock) const noexcept {
  const std::uint64_t clock = fence_number(wall_clock);
  const std::uint64_t seen = highest_[place_of(resource)] + 1;
  return seen <= fence_number(wall_clock + fence_reach) ? std::max(clock, seen) : clock;
}

}  // namespace redlock::core
