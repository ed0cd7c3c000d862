#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::core {

/// A semaphore's places are locks of their own: "jobs#0", "jobs#1", … Counting to k on each node
/// would admit more than k, since holders need not be counted on the same nodes.
[[nodiscard]] inline std::string place_name(std::string_view resource, std::uint32_t place) {
  return std::string(resource) + '#' + std::to_string(place);
}

/// What all names of places of that semaphore begin with.
[[nodiscard]] inline std::string_view places_prefix(std::string_view place) {
  return place.substr(0, place.rfind('#') + 1);
}

}  // namespace redlock::core
