#pragma once

#include <optional>
#include <string_view>

namespace redlock::core {

// Words that nodes answer with instead of a token. A lock of another library whose token is one of
// these words is taken for it: the answer to an acquire is a value, and only that to an inspection
// also says of which type.

/// What holds that do not exclude each other have in common, the group: that of readers, and that
/// of an owner, whose name follows.
inline constexpr std::string_view readers_group = "shared";
inline constexpr std::string_view owner_prefix = "owner ";

/// Somebody waits, and new holds are refused.
inline constexpr std::string_view waiting_writer = "writer";

/// How the value of a resource begins that nobody holds, and that a node has reserved, for some
/// milliseconds, for the client that has waited longest; its id follows. It is nobody's vote.
inline constexpr std::string_view reservation_prefix = "redlock:next:";

/// Whose group it is. None: not an owner's.
[[nodiscard]] inline std::optional<std::string_view> owner_of(std::string_view group) noexcept {
  if (!group.starts_with(owner_prefix)) return std::nullopt;
  return group.substr(owner_prefix.size());
}

/// Whether a holder of this name is a group, which shares the resource.
[[nodiscard]] inline bool is_group(std::string_view holder) noexcept {
  return holder == readers_group || owner_of(holder);
}

}  // namespace redlock::core
