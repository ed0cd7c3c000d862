#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/schedule.hpp"
#include "chaos/service.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/system/signals.hpp"

namespace redlock::chaos {

struct RunRequest {
  std::filesystem::path servers{};    ///< an empty folder; its content is of no use afterwards
  std::filesystem::path histories{};  ///< an empty folder; the checker reads it
  std::uint64_t seed = 1;
  std::size_t nodes = 5;                 ///< the number of servers, if they are one service
  const ServiceKind* service = nullptr;  ///< none: the servers are independent nodes
  std::size_t contenders = 4;            ///< the foreign one among them
  std::string unsafe{};  ///< the lock of all contenders, of unsafe_contender.hpp; empty: ours
  /// The words of a command that is the last contender; see foreign.hpp. Empty: all are ours.
  /// Faults that make nodes forget are left out then.
  std::vector<std::string> foreign{};
  std::chrono::milliseconds duration{};
  std::set<FaultKind> kinds{};
  /// The ports of the servers and of the links to them; none: any.
  std::optional<cli::PortRange> ports{};
  /// Called with a line for each event.
  std::function<void(std::string_view)> tell{};
  /// Called with the elapsed time, and what is broken now.
  std::function<void(std::chrono::milliseconds, std::string_view)> show{};
};

/// The schedule that a run follows.
[[nodiscard]] std::vector<Fault> schedule_of(const RunRequest& request);

/// Runs, heals everything, waits until every contender has had every resource once more or the time
/// for that is over, and ends everything. Returns the number of the signal that ended the run
/// early; 0: no signal did. Called from the main thread. Throws std::runtime_error when servers or
/// contenders cannot be started.
[[nodiscard]] int run(const RunRequest& request, const cli::Signals& signals);

}  // namespace redlock::chaos
