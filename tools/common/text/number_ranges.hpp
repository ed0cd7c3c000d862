#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "redlock/limits.hpp"

namespace redlock::cli {

struct NumberRange {
  std::string_view option{};
  std::uint64_t least = 0;
  std::uint64_t most = UINT64_MAX;
};

/// The ranges of all options that are numbers, for every verb. Verbs check limits that depend on
/// other options or on the mode of a bench.
inline constexpr NumberRange number_ranges[] = {
    {"local", 1, limits::nodes},
    {"permits", 1, limits::permits},
    {"conflict-exit-code", 0, 255},
    {"fencing-token", 1, (std::uint64_t{1} << 53U) - 1},
    {"limit", 1, limits::most_keys_listed},
    {"in-flight", 1, 4096},
    {"nodes-count", 1, limits::nodes},
    {"repetitions", 1, 1000},
    {"contenders", 1, 512},
    {"hand-overs", 1, 100'000},
    {"clients", 1, 32},
    {"sentinel", 3, 9},
    {"cluster", 3, 5},
};

/// Any number, for an option that is not in the table.
[[nodiscard]] constexpr NumberRange range_of(std::string_view option) noexcept {
  const auto* found =
      std::find_if(std::begin(number_ranges), std::end(number_ranges),
                   [option](const NumberRange& each) { return each.option == option; });
  return found == std::end(number_ranges) ? NumberRange{option, 0, UINT64_MAX} : *found;
}

}  // namespace redlock::cli
