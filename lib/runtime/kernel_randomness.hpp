#pragma once

#include "core/randomness.hpp"
#include "support/secure_random.hpp"

namespace redlock::runtime {

/// The engine's randomness in production: the kernel's.
class KernelRandomness final : public core::Randomness {
 public:
  [[nodiscard]] Token token() override;
  [[nodiscard]] core::Duration between(core::Duration from, core::Duration to) override;

 private:
  support::SecureRandom random_;
};

}  // namespace redlock::runtime
