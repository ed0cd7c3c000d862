#pragma once

#include "core/vocabulary/time.hpp"
#include "redlock/token.hpp"

namespace redlock::core {

/// The engine's source of randomness: the kernel in production, a seed in the simulator.
class Randomness {
 public:
  Randomness() = default;
  Randomness(const Randomness&) = delete;
  Randomness& operator=(const Randomness&) = delete;
  virtual ~Randomness() = default;

  /// 160 random bits as `Token::digits` hexadecimal digits, never the same twice.
  [[nodiscard]] virtual Token token() = 0;

  /// Uniform in [from, to].
  [[nodiscard]] virtual Duration between(Duration from, Duration to) = 0;
};

}  // namespace redlock::core
