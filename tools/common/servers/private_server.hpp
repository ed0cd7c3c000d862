#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "common/servers/loopback_server.hpp"
#include "common/system/child_signals.hpp"

namespace redlock::cli {

/// redis-server or, without it, valkey-server; empty: neither is in PATH.
[[nodiscard]] std::string find_server();

/// A server without persistence, whose files are in a directory of the caller, with names that
/// begin with its number. Functions throw std::runtime_error. Does not end the server when
/// destroyed.
struct PrivateServer {
  std::string program{};  ///< of `find_server`
  std::string directory{};
  std::size_t number = 0;
  ServerAddress address{};  ///< a Unix socket's, for this user alone, or a port of 127.0.0.1
  bool is_sentinel = false;
  std::string settings{};  ///< further lines of its configuration
  pid_t pid = -1;          ///< -1: it was not started, or has been ended

  [[nodiscard]] std::string file(std::string_view ending) const;
  /// Starts it, as ChildProcess::start does.
  void launch(const ChildSignals& signals);
  /// False: it has ended, most likely because the port was taken.
  [[nodiscard]] bool wait_until_ready() const;
  [[nodiscard]] std::string last_log_line() const;
  void end() noexcept;
};

}  // namespace redlock::cli
