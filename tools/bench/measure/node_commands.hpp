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
  /// The sum over all commands in `INFO commandstats`: the work of the node. It counts an EVALSHA
  /// and also each command that the script runs, as `total_commands_processed` does. No figure of
  /// the server tells the two apart: a SET may be a client's or a script's.
  std::uint64_t all = 0;
  /// The commands that run scripts. Scripts cannot call them, so a client sent each of them.
  /// Clients also send other commands.
  std::uint64_t scripts = 0;
};

[[nodiscard]] CommandCounts parse_command_stats(std::string_view info);

/// A connection to each node that asks for its counts, and does not count its own questions.
class NodeCommands {
 public:
  /// Throws std::runtime_error.
  explicit NodeCommands(const std::vector<Endpoint>& nodes);

  /// The counts of each node, in the order of the nodes. Throws std::runtime_error.
  [[nodiscard]] std::vector<CommandCounts> sample();
  /// The connections that were made to all nodes since they started, including those of this
  /// object. Throws std::runtime_error.
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
