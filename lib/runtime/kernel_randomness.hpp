#pragma once

#include "core/vocabulary/randomness.hpp"
#include "support/secure_random.hpp"

namespace redlock::runtime {

/// The engine's randomness in production: tokens, and everything else that it draws, differ from
/// those of every copy of this process and of its machine (`support::SecureRandom`).
class KernelRandomness final : public core::Randomness {
 public:
  KernelRandomness() = default;
  explicit KernelRandomness(support::EntropySource& source) noexcept : random_(source) {}

  [[nodiscard]] Token token() override;
  [[nodiscard]] core::Duration between(core::Duration from, core::Duration to) override;

  /// For the owner of the loop: its turn ends.
  void end_turn() noexcept { random_.end_turn(); }

 private:
  support::SecureRandom random_;
};

}  // namespace redlock::runtime
