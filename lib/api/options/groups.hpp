#pragma once

#include <string>

#include "core/vocabulary/holder_words.hpp"
#include "redlock/target.hpp"

namespace redlock::api {

/// The group within which holders do not exclude each other. Empty: everybody is excluded.
[[nodiscard]] inline std::string group_of(Target::Kind kind, const std::string& owner) {
  if (kind == Target::Kind::shared) return std::string(core::readers_group);
  return kind == Target::Kind::owned ? std::string(core::owner_prefix) + owner : std::string();
}

}  // namespace redlock::api
