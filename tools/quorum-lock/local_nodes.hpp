#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "quorum-lock/signals.hpp"

namespace redlock::cli {

/// Private redis-server processes on loopback, without persistence, in a temporary directory. They
/// and the directory are gone when this object is; the kernel ends the servers if this process is
/// killed. Start it from the main thread.
class LocalNodes {
 public:
  /// Returns when all of them answer. Throws std::runtime_error with one line that says what is
  /// missing.
  LocalNodes(std::size_t count, const Signals& signals);
  ~LocalNodes();
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  [[nodiscard]] std::vector<std::string> urls() const;

  /// Ends the servers and removes the directory. May be called from any thread, more than once.
  void end() noexcept;

 private:
  struct Node {
    pid_t pid = -1;
    std::uint16_t port = 0;
  };

  void launch(Node& node, const std::string& program, const Signals& signals);
  /// False: the server has ended, most likely because the port was taken.
  [[nodiscard]] bool wait_until_ready(const Node& node) const;
  [[nodiscard]] std::string log_of(const Node& node) const;

  std::mutex mutex_;
  std::string directory_;
  std::vector<Node> nodes_;
};

}  // namespace redlock::cli
