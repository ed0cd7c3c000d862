#pragma once

#include <cstdint>

namespace redlock::core {

/// Of a resource that several hold at once, on one node.
struct Holds {
  std::uint32_t count = 0;
  bool asked_for = false;  ///< inspect: the token that was asked about is one of them
};

}  // namespace redlock::core
