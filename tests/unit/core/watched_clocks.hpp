#pragma once

#include <gtest/gtest.h>

#include <cstddef>

#include "harness.hpp"

namespace redlock::core::test {

inline Settings with_clock_guard(std::size_t nodes) {
  Settings settings = Harness::settings_for(nodes);
  settings.clock_guard = true;
  settings.quarantine = 30s;
  return settings;
}

/// Nodes whose clocks have been read once, when all showed `start`.
struct Watched : Harness {
  explicit Watched(std::size_t nodes) : Harness(with_clock_guard(nodes)) {
    ready(*this);
    for (NodeIndex node = 0; node < nodes; ++node) clock(node, start);
  }
  static constexpr Duration start = 1000000s;
  /// The time of a clock that has not stepped.
  [[nodiscard]] Duration right() const { return start + now().time_since_epoch(); }
};

}  // namespace redlock::core::test
