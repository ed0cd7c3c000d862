#pragma once

#include <optional>
#include <string_view>

namespace redlock::cli {

/// Advice for an option of flock(1) or `consul lock` that `run` does not have; none: it is not one
/// of theirs. tools/docs/pages/moving.md has the same for readers.
[[nodiscard]] std::optional<std::string_view> instead_of(std::string_view word) noexcept;

/// The verb for what other programs call by this word, or the option that had this name before;
/// none: not known.
[[nodiscard]] std::optional<std::string_view> our_word_for(std::string_view word) noexcept;

}  // namespace redlock::cli
