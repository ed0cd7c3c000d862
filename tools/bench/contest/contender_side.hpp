#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/session/settings.hpp"

namespace redlock::cli {

/// The side of a contender's process in its talk with the parent: see ContenderCrew. Its task comes
/// on its standard input: the URLs of nodes contain passwords, and everybody can read the arguments
/// of a process.

/// Messages of contenders of all modes to the parent.
namespace contender_word {
inline constexpr char ready = 'r';
inline constexpr char failed = 'f';  ///< and why, until the end of the pipe
}  // namespace contender_word

/// A byte from the parent; none at the end.
[[nodiscard]] std::optional<char> next_order();

void say_to_parent(std::string_view words);

/// The settings of a client: nodes, timeout, max TTL and guards.
[[nodiscard]] nlohmann::ordered_json settings_to_pass(const Settings& settings);
[[nodiscard]] Settings passed_settings(const nlohmann::json& json);

/// All of a contender: reads its request and does what `contend` makes of that. Reports an
/// exception to the parent. Gives the exit code.
[[nodiscard]] int run_contender_side(void (*contend)(const nlohmann::json& request));

}  // namespace redlock::cli
