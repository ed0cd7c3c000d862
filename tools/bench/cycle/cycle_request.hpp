#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
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
  bool floor = false;
  bool guards = false;
  bool scripts = false;
  bool peers = false;
  std::optional<std::string> html{};
};

/// Throws UsageError.
[[nodiscard]] CycleRequest read_cycle_request(const Arguments& given);

/// "2s", "500ms".
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);

/// The request as a command line in a shell; with `FILE` for the page, and without passwords.
[[nodiscard]] std::string command_of(const CycleRequest& request);

}  // namespace redlock::cli
