#pragma once

#include "core/containers/written_by.hpp"

namespace redlock::core::test {

/// Writes in the place of any class, for tests of one part without the others.
struct Anybody {
  [[nodiscard]] static constexpr By<Anybody> key() noexcept { return By<Anybody>(); }
};
inline constexpr By<Anybody> me = Anybody::key();

}  // namespace redlock::core::test
