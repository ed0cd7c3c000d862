#pragma once

#include <cstdint>

namespace redlock::redis {

/// How SET … NX is asked of a server, and therefore what its answers mean.
enum class SetForm : std::uint8_t {
  plain,     ///< OK: granted, nil: refused, holder not told
  with_get,  ///< Redis ≥ 7.0, inverted: nil: granted, a value: refused by that holder
};

}  // namespace redlock::redis
