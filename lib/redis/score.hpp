#pragma once

#include <optional>
#include <string_view>

namespace redlock::redis {

/// The number that a whole text is. Servers write a large round number with an exponent.
[[nodiscard]] std::optional<double> score_in(std::string_view text) noexcept;

}  // namespace redlock::redis
