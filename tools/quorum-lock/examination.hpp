#pragma once

#include <string>
#include <string_view>

#include "quorum-lock/output.hpp"
#include "redlock/deployment.hpp"

namespace redlock::cli {

/// What `doctor` prints. What a node did not tell is null in the JSON; a quarantine without an end
/// is -1, as Redis itself says it.
[[nodiscard]] std::string examination_json(const Examination& examination);
/// With --quiet only what is wrong.
[[nodiscard]] std::string examination_text(const Style& style, const Settings& settings,
                                           const Examination& examination);

/// What `bootstrap` prints.
[[nodiscard]] std::string opened_json(const Examination& examination);
[[nodiscard]] std::string opened_text(const Style& style, const Settings& settings,
                                      const Examination& examination);
[[nodiscard]] std::string refused_json(std::string_view message);

}  // namespace redlock::cli
