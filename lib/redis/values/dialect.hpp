#pragma once

#include <cstddef>
#include <cstdint>

#include "core/vocabulary/capabilities.hpp"

namespace redlock::redis {

/// The form in which a server gets requests, and so the meaning of its answers: the capabilities
/// that change the bytes. Servers of one dialect get the same bytes, encoded once.
enum class Dialect : std::uint8_t {
  classic,     ///< SET … NX; OK: granted, nil: refused, and the holder is not named
  with_get,    ///< Redis ≥ 7.0: SET … NX GET; nil: granted, a value: refused, by that holder
  with_delex,  ///< with_get, and DELEX … IFEQ instead of DELIFEQ compares and deletes
};

inline constexpr std::size_t dialects = 3;

[[nodiscard]] constexpr Dialect dialect_of(core::Capabilities server) noexcept {
  if (server.has(core::Capability::compare_by_delex)) return Dialect::with_delex;
  return server.has(core::Capability::name_holder) ? Dialect::with_get : Dialect::classic;
}

}  // namespace redlock::redis
