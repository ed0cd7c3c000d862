#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redlock/options.hpp"

/// The constants that all parts of a chaos run share.
namespace redlock::chaos {

// Short, so that quarantines are, and many leases end by themselves within a run.
inline constexpr std::chrono::milliseconds longest_ttl{800};
inline constexpr std::chrono::milliseconds shortest_ttl{200};
inline constexpr std::chrono::milliseconds max_ttl{1000};
/// Clocks are moved by much more, so that also a client that has just met the node notices.
inline constexpr std::chrono::milliseconds clock_bound{100};

/// The size of each resource that is used as a semaphore.
inline constexpr std::size_t permits = 2;

/// The time in which a resource is granted at most once; no longer than the guards cover.
inline constexpr std::chrono::milliseconds interval{600};
/// Resources that are not taken in any other way.
inline constexpr const char* interval_resource = "chaos-interval";
inline constexpr const char* election_resource = "chaos-election";

/// Created when everything is healed: a signal to the contenders.
inline constexpr const char* healed_file = "healed";

[[nodiscard]] inline ClientOptions contender_options(std::vector<std::string> nodes,
                                                     std::string_view prefix = {}) {
  ClientOptions options;
  options.nodes = std::move(nodes);
  options.prefix = prefix;
  options.max_ttl = max_ttl;
  options.guards.clock_bound = clock_bound;
  options.node.shortest_timeout = std::chrono::milliseconds{100};
  options.node.longest_timeout = std::chrono::milliseconds{300};
  return options;
}

/// A seed gives the same numbers on every machine, which the distributions of the standard library
/// do not promise.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto range = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(engine_() % range);
  }
  [[nodiscard]] std::chrono::milliseconds between(std::chrono::milliseconds least,
                                                  std::chrono::milliseconds most) {
    return std::chrono::milliseconds{between(least.count(), most.count())};
  }
  [[nodiscard]] bool one_in(std::int64_t n) { return between(1, n) == 1; }
  [[nodiscard]] std::size_t below(std::size_t n) {
    return static_cast<std::size_t>(between(0, static_cast<std::int64_t>(n) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace redlock::chaos
