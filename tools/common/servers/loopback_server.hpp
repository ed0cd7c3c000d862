#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "common/system/descriptor.hpp"

namespace redlock::cli {

/// Private servers on this machine.

struct ServerAddress {
  std::string path{};  ///< of a Unix socket, in place of the port
  std::uint16_t port = 0;
  std::string password{};
};

/// Only this user can enter it. In TMPDIR, or in /tmp if TMPDIR's name is too long or too
/// unusual for the URL of a Unix socket. Throws std::runtime_error.
[[nodiscard]] std::string make_temporary_directory();

/// A connection that is kept.
class ServerConnection {
 public:
  explicit ServerConnection(ServerAddress server);
  /// The answer to a line, up to the line of the answer that contains `wanted`; empty without an
  /// answer within a second. The connection is of no more use then.
  [[nodiscard]] std::string ask(std::string_view line, std::string_view wanted) const;

 private:
  ServerAddress server_;
  Descriptor socket_;
};

/// As ServerConnection::ask, over a connection of its own.
[[nodiscard]] std::string ask_server(const ServerAddress& server, std::string_view line,
                                     std::string_view wanted);

/// Whether the server there is this process: another one that was quicker to take the port would
/// answer too.
[[nodiscard]] bool answers_as(const ServerAddress& server, pid_t pid);

/// Whether a child has ended; it is left to be reaped, so that its number stays ours.
[[nodiscard]] bool has_ended(pid_t pid);

void kill_and_reap(pid_t pid) noexcept;

}  // namespace redlock::cli
