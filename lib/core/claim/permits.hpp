#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::core {

/// A semaphore's permits are locks of their own: "jobs#0", "jobs#1", … Counting to k on each node
/// would admit more than k, since holders need not be counted on the same nodes.
[[nodiscard]] inline std::string permit_name(std::string_view resource, std::uint32_t permit) {
  return std::string(resource) + '#' + std::to_string(permit);
}

/// Under which a client is queued that waits for one of them: no key has that name.
[[nodiscard]] inline std::string any_permit_name(std::string_view resource) {
  return std::string(resource) + '#';
}

/// The same, if a key is named as a permit is.
[[nodiscard]] inline std::optional<std::string_view> any_permit_of(std::string_view key) {
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == key.size() || key[digits - 1] != '#') return std::nullopt;
  return key.substr(0, digits);
}

/// What all names of permits of that semaphore begin with.
[[nodiscard]] inline std::string_view permits_prefix(std::string_view permit) {
  return permit.substr(0, permit.rfind('#') + 1);
}

/// Which of them a key is that is named as a permit is.
[[nodiscard]] inline std::uint32_t permit_number(std::string_view permit) {
  std::uint32_t number = 0;
  const std::string_view digits = permit.substr(permits_prefix(permit).size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace redlock::core
