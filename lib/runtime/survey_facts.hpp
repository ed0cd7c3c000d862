#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "redis/dialogue.hpp"
#include "runtime/survey.hpp"

namespace redlock::runtime {

/// What a node is asked in one write. Each may be refused on its own: a sentinel knows few
/// commands, a server that is loading answers few, a user may be allowed few.
[[nodiscard]] redis::Questions fact_questions();

/// Reads the answers to them.
void take_facts(const std::vector<redis::Answer>& answers, SurveyedNode& node);

/// An error that is about who we are, not about what was asked.
[[nodiscard]] bool is_denial(std::string_view error) noexcept;

/// What TIME answered; none: an error, or nonsense.
[[nodiscard]] std::optional<std::chrono::nanoseconds> server_time(const redis::Answer& answer);

}  // namespace redlock::runtime
