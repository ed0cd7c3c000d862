#pragma once

#include <string>
#include <vector>

#include "bench/cycle/cycle_request.hpp"
#include "bench/cycle/peers.hpp"
#include "bench/page/bench_page.hpp"

namespace redlock::cli {

/// The nodes' servers, each kind once: "5 × Redis 7.0.15". Waits for a moment for nodes that do not
/// answer. Empty: none did.
[[nodiscard]] std::string servers_of(const CycleRequest& request,
                                     const std::vector<std::string>& nodes);

/// Holds no name and no path of this machine. `peers` may be null.
[[nodiscard]] BenchFacts facts_of(const CycleRequest& request, const std::string& servers,
                                  const Peers* peers);

}  // namespace redlock::cli
