#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "common/session/output.hpp"
#include "common/system/signals.hpp"
#include "common/text/arguments.hpp"

namespace redlock::cli {

/// One crowd.
struct CrowdRow {
  std::uint64_t nodes = 0;
  std::uint64_t clients = 0;
  std::chrono::nanoseconds connected{0};  ///< until each client has acquired a lock of its own
  std::uint64_t connections = 0;          ///< connections to all nodes, from start to end
  std::chrono::nanoseconds elapsed{0};    ///< the time in which grants counted
  std::uint64_t grants = 0;
  std::uint64_t most = 0;   ///< grants of the client that had the most
  std::uint64_t least = 0;  ///< grants of the client that had the fewest
  /// A wait that was not over at the end counts until the end.
  std::chrono::nanoseconds longest_wait{0};
  std::uint64_t failures = 0;
  std::uint64_t overlaps = 0;

  [[nodiscard]] double per_second() const;
  /// The longest wait, in units of the time in which each client has one turn.
  [[nodiscard]] double turns_waited() const;
  /// The connections that one client made to one node.
  [[nodiscard]] double connections_each() const;
};

[[nodiscard]] std::string crowd_json(const std::vector<CrowdRow>& rows);
[[nodiscard]] std::string crowd_text(const Style& style, const std::vector<CrowdRow>& rows);

/// `bench --mode crowd`: many clients with connections of their own that wait for one lock. Throws
/// UsageError; gives the exit code.
[[nodiscard]] int run_crowd_bench(const Arguments& given, const Signals& signals);

}  // namespace redlock::cli
