#include "support/resp_client.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace redlock::test {
namespace {

constexpr const char* too_late = "no answer within the limit";

}  // namespace

RespClient RespClient::tcp(std::uint16_t port, const std::string& address,
                           std::chrono::milliseconds limit) {
  return {connect_tcp(address, port, limit), limit};
}

RespClient RespClient::unix_socket(const std::string& path, std::chrono::milliseconds limit) {
  return {connect_unix(path, limit), limit};
}

RespClient::RespClient(Fd socket, std::chrono::milliseconds limit)
    : socket_(std::move(socket)), limit_(limit) {}

Reply RespClient::call(const Command& command) {
  send_raw(resp::command(command));
  return read();
}

void RespClient::send_raw(std::string_view bytes) {
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  while (!bytes.empty()) {
    const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      wait_for(POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "send");
    }
  }
}

Reply RespClient::read() {
  const auto deadline = std::chrono::steady_clock::now() + limit_;
  for (;;) {
    if (auto reply = parser_.next()) return std::move(*reply);
    std::array<char, 16384> buffer;
    const auto received = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (received > 0) {
      // The limit must be checked even if the peer never pauses.
      if (std::chrono::steady_clock::now() >= deadline) throw std::runtime_error(too_late);
      parser_.feed({buffer.data(), static_cast<std::size_t>(received)});
    } else if (received == 0) {
      throw std::runtime_error("connection closed by the server");
    } else if (errno == EAGAIN) {
      wait_for(POLLIN, deadline);
    } else if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "recv");
    }
  }
}

bool RespClient::stale() const noexcept {
  pollfd entry{socket_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) != 0;
}

void RespClient::wait_for(short events, std::chrono::steady_clock::time_point deadline) const {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) throw std::runtime_error(too_late);
  pollfd entry{socket_.get(), events, 0};
  if (::poll(&entry, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "poll");
  }
}

}  // namespace redlock::test
