#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "redis/connection/admin_connection.hpp"
#include "runtime/survey.hpp"

namespace redlock::runtime {

/// The commands that check a node, sent with one write. Each may be refused on its own: a
/// sentinel knows few commands, a server that is loading answers few, a user may be allowed few.
/// A node of several `servers` is asked also what a vote there asks: it waits `within` for the
/// acknowledgements of its replicas.
[[nodiscard]] redis::Questions fact_questions(std::size_t servers = 1,
                                              std::chrono::milliseconds within = {});

/// Reads the answers to fact_questions() into `node`, whose server is at `address`.
void take_facts(const std::vector<redis::OwnedValue>& answers, const std::string& address,
                SurveyedNode& node);

/// Whether the error is about the user, not about the command.
[[nodiscard]] bool is_denial(std::string_view error) noexcept;

/// The answer to TIME; none: an error, or malformed.
[[nodiscard]] std::optional<std::chrono::nanoseconds> server_time(const redis::OwnedValue& answer);

}  // namespace redlock::runtime
