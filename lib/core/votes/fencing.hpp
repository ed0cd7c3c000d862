#pragma once

#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/vocabulary/node_set.hpp"
#include "core/vocabulary/time.hpp"

namespace redlock::core {

/// The limit of fencing numbers. Lua keeps numbers as doubles, which are not all exact from here
/// on.
inline constexpr std::uint64_t fence_limit = std::uint64_t{1} << 53U;

/// How far a client's number may be ahead of a node's clock (see fence.lua).
inline constexpr Duration fence_lead = std::chrono::hours(24);

/// How far a number that a client saw may be ahead of the client's clock: within the reach of every
/// node, even of one whose clock is behind the client's.
inline constexpr Duration fence_reach = fence_lead / 2;

/// The state of an attempt's fencing token: a number that a quorum of nodes has acknowledged, each
/// because all numbers that it had acknowledged before were smaller. Any two quorums share a node,
/// so every later token is larger, whatever the clocks do.
struct Fencing {
  std::uint64_t number = 0;   ///< the number proposed now; the token once it is granted
  std::uint64_t first = 0;    ///< the number that was sent with the SET
  std::uint64_t highest = 0;  ///< the highest number that nodes have reported
  std::uint64_t reach = 0;    ///< a number above this is proposed only if nothing else helps
  unsigned rounds = 1;        ///< rounds until now, including that of the SET
  NodeSet acknowledged;       ///< nodes that have acknowledged `number`
  NodeSet asked;     ///< nodes that were asked to raise theirs to `number` and have not answered
  NodeSet left_out;  ///< nodes whose number is above `reach`, if a quorum is possible without them
};

/// The number that a wall clock proposes. `wall_clock`: the time since 1970.
[[nodiscard]] std::uint64_t fencing_number_at(Duration wall_clock) noexcept;

/// The highest numbers seen, by resource, so that a client whose clock is behind needs a second
/// round trip only once. The memory has a fixed size: resources that share a slot only make each
/// other's numbers larger than necessary.
class FencingNumbers {
 public:
  void note(std::string_view resource, std::uint64_t number) noexcept;
  /// Forgets the number that was seen: a node refused it as too far ahead of the node's clock.
  void forget(std::string_view resource) noexcept;
  /// The number to propose at `wall_clock`, the time since 1970. A number more than `fence_reach`
  /// ahead of it does not count, even if it was seen: nodes would refuse it again and again.
  [[nodiscard]] std::uint64_t propose(std::string_view resource,
                                      Duration wall_clock) const noexcept;
  /// Whether nodes had higher numbers than the one last proposed. Then another client, with a
  /// faster clock, takes this resource too, and probably will again.
  [[nodiscard]] bool was_behind(std::string_view resource) const noexcept;
  void note_behind(std::string_view resource, bool behind) noexcept;

 private:
  static constexpr std::size_t slots = 1024;
  [[nodiscard]] static std::size_t slot_of(std::string_view resource) noexcept;
  std::array<std::uint64_t, slots> highest_{};
  std::bitset<slots> behind_;  ///< slots for which was_behind() is true
};

}  // namespace redlock::core
