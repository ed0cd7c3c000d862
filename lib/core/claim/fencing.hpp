#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/nodes/node_set.hpp"
#include "core/time.hpp"

namespace redlock::core {

/// Numbers cross Lua, which keeps them as doubles: from here on not all are exact.
inline constexpr std::uint64_t fence_limit = std::uint64_t{1} << 53U;

/// So far ahead of a node's clock may a client's be (see fence.lua).
inline constexpr Duration fence_lead = std::chrono::hours(24);

/// And so far ahead of a client's clock may be what it saw, to be within every node's reach, whose
/// clock may be behind the client's.
inline constexpr Duration fence_reach = fence_lead / 2;

/// How an attempt comes to its fencing token: a number that a quorum of nodes has acknowledged,
/// each because all it had acknowledged before was smaller. Any two quorums share a node, so that
/// every later token is larger, whatever the clocks do.
struct Fencing {
  std::uint64_t number = 0;   ///< asked for at the time; the token once it is granted
  std::uint64_t first = 0;    ///< asked for with the SET
  std::uint64_t highest = 0;  ///< of what nodes said that they have
  std::uint64_t reach = 0;    ///< above it, a number is asked for only where nothing else helps
  unsigned rounds = 1;
  NodeSet acknowledged;  ///< `number`
  NodeSet asked;         ///< to raise theirs to `number`, not answered
  NodeSet left_out;      ///< theirs is above `reach`, and a quorum is possible without them
};

/// The number that a wall clock proposes, the time since 1970.
[[nodiscard]] std::uint64_t fencing_number_at(Duration wall_clock) noexcept;

/// The highest numbers seen, by resource, so that a client whose clock is behind needs its second
/// round trip only once. A memory of fixed size: resources that share a slot only make each
/// other's numbers larger than they need be.
class FencingNumbers {
 public:
  void note(std::string_view resource, std::uint64_t number) noexcept;
  /// A node refused what was seen for being too far ahead of its clock.
  void forget(std::string_view resource) noexcept;
  /// What to ask for at `wall_clock`, the time since 1970. What was seen beyond `fence_reach` ahead
  /// of it does not count: nodes would refuse it, again and again.
  [[nodiscard]] std::uint64_t propose(std::string_view resource,
                                      Duration wall_clock) const noexcept;
  /// Whether nodes had higher numbers than the one last asked for: then a client whose clock is
  /// ahead of ours takes the resource as well, and will again.
  [[nodiscard]] bool was_behind(std::string_view resource) const noexcept;
  void note_behind(std::string_view resource, bool behind) noexcept;

 private:
  static constexpr std::size_t slots = 1024;
  [[nodiscard]] static std::size_t slot_of(std::string_view resource) noexcept;
  std::array<std::uint64_t, slots> highest_{};
  std::bitset<slots> behind_;
};

}  // namespace redlock::core
