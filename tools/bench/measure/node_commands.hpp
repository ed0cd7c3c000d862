#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measure/cycle_result.hpp"

struct redisContext;

namespace redlock::bench {

/// Calls since the server started.
struct CommandCounts {
  /// Of `INFO commandstats`, summed over all commands. Commands that a script runs count as well as
  /// the EVALSHA of it: this is what the node does. So does `total_commands_processed`, and no
  /// other figure tells the two apart: a SET in it may be a client's or a script's.
  std::uint64_t all = 0;
  /// Those that run scripts. Scripts cannot call these, so each was sent by a client; but clients
  /// send others too.
  std::uint64_t scripts = 0;
};

[[nodiscard]] CommandCounts parse_command_stats(std::string_view info);

/// A connection to each node that asks for its counts, and does not count its own questions.
class NodeCommands {
 public:
  /// Throws std::runtime_error.
  explicit NodeCommands(const std::vector<Endpoint>& nodes);

  /// Node by node. Throws std::runtime_error.
  [[nodiscard]] std::vector<CommandCounts> sample();
  /// That were made to all nodes since they started, its own among them. Throws std::runtime_error.
  [[nodiscard]] std::uint64_t connections();

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept;
  };
  [[nodiscard]] std::vector<std::string> ask(const char* question);

  std::vector<std::unique_ptr<redisContext, Free>> nodes_;
  std::uint64_t asked_ = 0;
};

}  // namespace redlock::bench
