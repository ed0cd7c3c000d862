#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace redlock::core {

/// Abilities of a node for this client: its server knows the commands, and the client's user may
/// run them. A new capability is an enumerator and a name here, a row of what shows it
/// (redis/handshake/capability_rows.hpp), and the code that asks for it.
enum class Capability : std::uint8_t {
  run_scripts,       ///< EVAL and EVALSHA
  name_holder,       ///< a refused SET names the holder: SET … NX GET
  set_fenced,        ///< Verb::set_fenced: fencing numbers by plain commands
  track,             ///< Verb::track: notifies us when others change a key
  compare,           ///< Verb::release_plain and the like: DELIFEQ or DELEX, and SET … IFEQ
  compare_by_delex,  ///< comparing is by DELEX, not by DELIFEQ
  set_all,           ///< Verb::set_all: MSETEX
};

[[nodiscard]] constexpr std::size_t index_of(Capability capability) noexcept {
  return static_cast<std::size_t>(capability);
}

/// For people, in the order of the enumerators.
inline constexpr auto capability_names = std::to_array<std::string_view>({
    "run scripts",
    "name the holder",
    "number without scripts",
    "track keys",
    "compare without scripts",
    "compare by DELEX",
    "set several keys",
});

/// A set of capabilities.
class Capabilities {
 public:
  constexpr Capabilities() noexcept = default;
  constexpr Capabilities(std::initializer_list<Capability> capabilities) noexcept {
    for (const Capability capability : capabilities) bits_ |= bit(capability);
  }
  /// All capabilities.
  [[nodiscard]] static constexpr Capabilities all() noexcept {
    Capabilities all;
    all.bits_ = (1U << capability_names.size()) - 1U;
    return all;
  }

  [[nodiscard]] constexpr bool has(Capability capability) const noexcept {
    return (bits_ & bit(capability)) != 0;
  }
  [[nodiscard]] constexpr Capabilities with(Capabilities more) const noexcept {
    more.bits_ |= bits_;
    return more;
  }
  [[nodiscard]] constexpr Capabilities without(Capabilities fewer) const noexcept {
    fewer.bits_ = bits_ & ~fewer.bits_;
    return fewer;
  }

  /// Calls `visit(Capability)` in the order of the enumerators.
  template <typename Visit>
  constexpr void each(Visit&& visit) const {
    for (std::uint32_t left = bits_; left != 0; left &= left - 1U) {
      visit(static_cast<Capability>(std::countr_zero(left)));
    }
  }

  friend constexpr bool operator==(Capabilities a, Capabilities b) noexcept = default;

 private:
  [[nodiscard]] static constexpr std::uint32_t bit(Capability capability) noexcept {
    return 1U << index_of(capability);
  }
  std::uint32_t bits_ = 0;
  static_assert(capability_names.size() < 32, "a capability is one bit");
};

}  // namespace redlock::core
