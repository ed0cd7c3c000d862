#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::cli {

/// The one of `known` that was probably meant by `word`: few letters differ, or it is the only one
/// that begins so.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 std::span<const std::string> known);

}  // namespace redlock::cli
