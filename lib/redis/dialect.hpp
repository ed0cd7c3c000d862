#pragma once

#include <cstddef>
#include <cstdint>

namespace redlock::redis {

/// How a server is asked, and therefore what its answers mean.
enum class Dialect : std::uint8_t {
  classic,     ///< SET … NX; OK: granted, nil: refused, and the holder is not named
  with_get,    ///< Redis ≥ 7.0: SET … NX GET; nil: granted, a value: refused, by that holder
  with_delex,  ///< with_get, and DELEX … IFEQ compares and deletes, in the place of DELIFEQ
};

inline constexpr std::size_t dialects = 3;

}  // namespace redlock::redis
