#pragma once

#include <optional>
#include <string_view>

namespace redlock::redis {

/// The text as a number; none: the text, or a part of it, is not a number. Servers write large
/// round numbers with an exponent.
[[nodiscard]] std::optional<double> score_in(std::string_view text) noexcept;

}  // namespace redlock::redis
