#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::core {

/// The name of a permit. A semaphore's permits are separate locks: "jobs#0", "jobs#1", … A count to
/// k on each node would admit more than k holders, because holders need not be counted on the same
/// nodes.
[[nodiscard]] inline std::string permit_name(std::string_view resource, std::uint32_t permit) {
  return std::string(resource) + '#' + std::to_string(permit);
}

/// The name under which a client is queued that waits for any permit. No key has this name.
[[nodiscard]] inline std::string any_permit_name(std::string_view resource) {
  return std::string(resource) + '#';
}

/// The name under which clients wait for any permit of this key's semaphore; none: the key is not
/// named like a permit.
[[nodiscard]] inline std::optional<std::string_view> any_permit_of(std::string_view key) {
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == key.size() || key[digits - 1] != '#') return std::nullopt;
  return key.substr(0, digits);
}

/// The common beginning of the names of all permits of this permit's semaphore.
[[nodiscard]] inline std::string_view permits_prefix(std::string_view permit) {
  return permit.substr(0, permit.rfind('#') + 1);
}

/// The number of a permit within its semaphore, by its name.
[[nodiscard]] inline std::uint32_t permit_number(std::string_view permit) {
  std::uint32_t number = 0;
  const std::string_view digits = permit.substr(permits_prefix(permit).size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace redlock::core
