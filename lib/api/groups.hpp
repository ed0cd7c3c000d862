#pragma once

#include <string>
#include <string_view>

#include "redlock/target.hpp"

namespace redlock::api {

/// What the holders that do not exclude each other have in common.
inline constexpr std::string_view readers_group = "shared";
inline constexpr std::string_view owner_prefix = "owner ";

[[nodiscard]] inline std::string group_of(Target::Kind kind, const std::string& owner) {
  if (kind == Target::Kind::shared) return std::string(readers_group);
  return kind == Target::Kind::owned ? std::string(owner_prefix) + owner : std::string();
}

}  // namespace redlock::api
