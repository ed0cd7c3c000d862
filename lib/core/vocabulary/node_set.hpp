#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "redlock/limits.hpp"

namespace redlock::core {

using NodeIndex = std::uint8_t;

/// A set of nodes by their position in the configured list.
class NodeSet {
 public:
  constexpr NodeSet() noexcept = default;

  [[nodiscard]] static constexpr NodeSet first(std::size_t count) noexcept {
    return NodeSet(static_cast<std::uint16_t>((1U << count) - 1U));
  }
  [[nodiscard]] static constexpr NodeSet of(NodeIndex node) noexcept {
    return NodeSet(static_cast<std::uint16_t>(1U << node));
  }

  constexpr void add(NodeIndex node) noexcept { bits_ = (*this | of(node)).bits_; }
  constexpr void remove(NodeIndex node) noexcept { bits_ = (*this - of(node)).bits_; }
  [[nodiscard]] constexpr bool has(NodeIndex node) const noexcept {
    return ((bits_ >> node) & 1U) != 0;
  }
  /// One bit per node; the lowest bit is the first node.
  [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }
  /// The first node of a set that is not empty.
  [[nodiscard]] constexpr NodeIndex lowest() const noexcept {
    return static_cast<NodeIndex>(std::countr_zero(bits_));
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return bits_ == 0; }
  [[nodiscard]] constexpr std::size_t size() const noexcept {
    // Written out: without the processor's instruction, std::popcount is a call into the runtime,
    // and every answer needs the size.
    unsigned bits = bits_;
    bits -= (bits >> 1U) & 0x5555U;
    bits = (bits & 0x3333U) + ((bits >> 2U) & 0x3333U);
    bits = (bits + (bits >> 4U)) & 0x0f0fU;
    return (bits + (bits >> 8U)) & 0x1fU;
  }

  /// Calls `visit(NodeIndex)` in ascending order; the same order every time, so that a seed
  /// reproduces.
  template <typename Visit>
  constexpr void each(Visit&& visit) const {
    for (unsigned left = bits_; left != 0; left &= left - 1U) {
      visit(static_cast<NodeIndex>(std::countr_zero(left)));
    }
  }

  friend constexpr NodeSet operator|(NodeSet a, NodeSet b) noexcept {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ | b.bits_));
  }
  friend constexpr NodeSet operator&(NodeSet a, NodeSet b) noexcept {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ & b.bits_));
  }
  friend constexpr NodeSet operator-(NodeSet a, NodeSet b) noexcept {
    return NodeSet(static_cast<std::uint16_t>(a.bits_ & static_cast<std::uint16_t>(~b.bits_)));
  }
  friend constexpr bool operator==(NodeSet a, NodeSet b) noexcept = default;

 private:
  constexpr explicit NodeSet(std::uint16_t bits) noexcept : bits_(bits) {}
  std::uint16_t bits_ = 0;
  static_assert(limits::nodes <= 16, "a node is one bit");
};

}  // namespace redlock::core
