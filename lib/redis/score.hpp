#pragma once

#include <optional>
#include <string_view>

namespace redlock::redis {

/// Of a whole text. Servers write a large round number with an exponent.
[[nodiscard]] std::optional<double> score_in(std::string_view text) noexcept;

}  // namespace redlock::redis
