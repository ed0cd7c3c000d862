#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/eventually.hpp"
#include "support/resp.hpp"
#include "support/sockets.hpp"

namespace redlock::test {

/// A small blocking client. Everything that is not an answer (refused, timed out, closed) throws
/// std::runtime_error; the connection is then of no further use.
class RespClient {
 public:
  static constexpr std::chrono::milliseconds default_limit = longest_wait;

  [[nodiscard]] static RespClient tcp(std::uint16_t port, const std::string& address = "127.0.0.1",
                                      std::chrono::milliseconds limit = default_limit);
  [[nodiscard]] static RespClient unix_socket(const std::string& path,
                                              std::chrono::milliseconds limit = default_limit);

  Reply call(const Command& command);
  void send_raw(std::string_view bytes);
  /// The next value, an answer or a push.
  [[nodiscard]] Reply read();
  /// Whether the peer has closed or sent something without a command: such an idle connection must
  /// not be used again.
  [[nodiscard]] bool stale() const noexcept;
  void set_limit(std::chrono::milliseconds limit) noexcept { limit_ = limit; }
  void reset() noexcept { close_with_reset(socket_); }

 private:
  RespClient(Fd socket, std::chrono::milliseconds limit);
  void wait_for(short events, std::chrono::steady_clock::time_point deadline) const;

  Fd socket_;
  std::chrono::milliseconds limit_;
  RespParser parser_;
};

}  // namespace redlock::test
