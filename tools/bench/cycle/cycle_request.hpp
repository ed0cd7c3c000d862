#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/session/settings.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// The request to `bench --mode cycle`.
struct CycleRequest {
  Settings settings{};
  std::vector<std::uint64_t> in_flight{};
  std::vector<std::uint64_t> nodes_counts{};
  std::chrono::nanoseconds duration{0};
  std::uint64_t repetitions = 0;
  enum class Interface { async, blocking } interface = Interface::async;
  bool peers = false;
};

/// Throws UsageError.
[[nodiscard]] CycleRequest read_cycle_request(const Arguments& given);

}  // namespace redlock::cli
