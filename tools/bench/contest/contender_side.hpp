#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/session/settings.hpp"

namespace redlock::cli {

/// A contender's side of its conversation with the parent: see ContenderCrew. A contender gets its
/// request on standard input, because the URLs of nodes contain passwords, and everybody can read
/// the arguments of a process.

/// Messages of contenders of all modes to the parent.
namespace contender_word {
inline constexpr char ready = 'r';
inline constexpr char failed = 'f';  ///< the reason follows, until the pipe ends
}  // namespace contender_word

/// The next order of the parent; none: the pipe is closed.
[[nodiscard]] std::optional<char> next_order();

void say_to_parent(std::string_view words);

/// The settings that a contender's client needs: nodes, timeout, max TTL and guards.
[[nodiscard]] nlohmann::ordered_json settings_to_pass(const Settings& settings);
[[nodiscard]] Settings passed_settings(const nlohmann::json& json);

/// The main function of a contender: reads its request and calls `contend` with it. Reports an
/// exception to the parent. Returns the exit code.
[[nodiscard]] int run_contender_side(void (*contend)(const nlohmann::json& request));

}  // namespace redlock::cli
