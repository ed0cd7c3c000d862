#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/engine/engine.hpp"

namespace redlock::simulation {

/// Checks the invariants of an engine's state between two steps, and of two successive states. Each
/// invariant is one sentence; the first broken one is kept.
class Invariants {
 public:
  /// Call it after each step of the same engine.
  void check(const core::Engine& engine, core::Instant now);
  /// The engine's process died: the next engine has no earlier state.
  void reset() { before_.clear(); }
  [[nodiscard]] const std::string& broken() const noexcept { return broken_; }

 private:
  void holds(bool rule, std::string_view sentence, const core::Claim& claim);
  void check_state(const core::Engine& engine, const core::Claim& claim, core::Instant now);
  void check_keys(const core::Claim& claim);
  void check_change(const core::Claim& claim);

  struct Before {
    std::uint32_t generation = 0;
    core::Claim::Purpose purpose{};
    core::Claim::Phase phase{};
    std::uint16_t round = 0;
    std::string token;
  };
  std::map<std::uint32_t, Before> before_;  // by claim index
  std::map<std::uint32_t, std::uint32_t> unanswered_;
  std::string broken_;
};

}  // namespace redlock::simulation
