#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include "support/eventually.hpp"
#include "support/sockets.hpp"

namespace redlock::test {

/// Sends the bytes to a loopback port, and reads until the other side ends the connection. Empty:
/// nobody listens there, or no answer came within `longest_wait`.
[[nodiscard]] inline std::string exchange_bytes(std::uint16_t port, std::string_view bytes) try {
  const Fd socket = connect_tcp("127.0.0.1", port, longest_wait);
  std::string answer;
  std::array<char, 4096> buffer{};
  for (;;) {
    pollfd watched{socket.get(), static_cast<short>(bytes.empty() ? POLLIN : POLLOUT), 0};
    if (::poll(&watched, 1, static_cast<int>(longest_wait.count())) <= 0) return {};
    const ssize_t size = bytes.empty()
                             ? ::recv(socket.get(), buffer.data(), buffer.size(), 0)
                             : ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (size < 0) return {};
    if (!bytes.empty()) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (size == 0) {
      return answer;
    } else {
      answer.append(buffer.data(), static_cast<std::size_t>(size));
    }
  }
} catch (const std::system_error&) {
  return {};
}

/// The whole answer, with its head.
[[nodiscard]] inline std::string http_get(std::uint16_t port, std::string_view target) {
  return exchange_bytes(port, "GET " + std::string(target) +
                                  " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

}  // namespace redlock::test
