#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bench/measure/cycle_result.hpp"
#include "common/system/descriptor.hpp"

namespace redlock::bench {

/// One connection per node of the settings, in their order; invalid if the node did not answer.
struct FloorLinks {
  std::vector<cli::Descriptor> sockets;
  std::string script_sha;
};

/// Checks the settings, connects to every node (blocking, a second per step at most) and loads the
/// release script there. A sentence says what is wrong if no majority could be prepared.
[[nodiscard]] std::variant<FloorLinks, std::string> open_floor_links(const CycleSettings& settings);

}  // namespace redlock::bench
