#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::core {

/// A semaphore's permits are locks of their own: "jobs#0", "jobs#1", … Counting to k on each node
/// would admit more than k, since holders need not be counted on the same nodes.
[[nodiscard]] inline std::string permit_name(std::string_view resource, std::uint32_t permit) {
  return std::string(resource) + '#' + std::to_string(permit);
}

/// What all names of permits of that semaphore begin with.
[[nodiscard]] inline std::string_view permits_prefix(std::string_view permit) {
  return permit.substr(0, permit.rfind('#') + 1);
}

}  // namespace redlock::core
