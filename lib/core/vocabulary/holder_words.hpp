#pragma once

#include <optional>
#include <string_view>

namespace redlock::core {

// Words that nodes answer instead of a token. If the token of another library's lock is one of
// these words, it is mistaken for the word: the answer to an acquire is only a value. The answer to
// an inspection also names the type of the key.

/// The names of groups. Holds of one group do not exclude each other: those of all readers, or
/// those of one owner, whose name follows the prefix.
inline constexpr std::string_view readers_group = "shared";
inline constexpr std::string_view owner_prefix = "owner ";

/// A writer waits, and new holds are refused.
inline constexpr std::string_view waiting_writer = "writer";

/// The owner whose group this is; none: not the group of an owner.
[[nodiscard]] inline std::optional<std::string_view> owner_of(std::string_view group) noexcept {
  if (!group.starts_with(owner_prefix)) return std::nullopt;
  return group.substr(owner_prefix.size());
}

/// Whether a holder with this name is a group, whose members share the resource.
[[nodiscard]] inline bool is_group(std::string_view holder) noexcept {
  return holder == readers_group || owner_of(holder);
}

}  // namespace redlock::core
