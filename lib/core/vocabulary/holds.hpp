#pragma once

#include <cstdint>

namespace redlock::core {

/// The holds on a resource that several holders share, on one node.
struct Holds {
  std::uint32_t count = 0;
  bool asked_for = false;  ///< inspect: the token in question is one of the holders
};

}  // namespace redlock::core
