#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::test {

/// Throws std::system_error with errno.
[[noreturn]] void throw_errno(const std::string& what);

/// Owns a file descriptor.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// A loopback port that no other test process takes while this object lives.
///
/// The port lies below the kernel's ephemeral range. A port from bind(0) would not do for servers
/// that are killed and started again: meanwhile the kernel may give it to any outgoing connection.
/// A client that reconnects to it may even get it as its own port, and be connected to itself.
class PortReservation {
 public:
  PortReservation() = default;
  PortReservation(std::uint16_t port, Fd claim) : port_(port), claim_(std::move(claim)) {}
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  std::uint16_t port_ = 0;
  Fd claim_;
};

[[nodiscard]] PortReservation reserve_port(const std::string& address = "127.0.0.1");

/// Non-blocking listener; throws std::system_error when the port is taken.
[[nodiscard]] Fd listen_on(const std::string& address, std::uint16_t port);
/// Accepts one connection (non-blocking, TCP_NODELAY); invalid if none is waiting.
[[nodiscard]] Fd accept_from(const Fd& listener);

/// Connected non-blocking sockets; throw std::system_error on refusal or after the limit.
[[nodiscard]] Fd connect_tcp(const std::string& address, std::uint16_t port,
                             std::chrono::milliseconds limit);
[[nodiscard]] Fd connect_unix(const std::string& path, std::chrono::milliseconds limit);
/// Only begins to connect: the outcome shows as writability and SO_ERROR.
[[nodiscard]] Fd begin_connect_tcp(const std::string& address, std::uint16_t port);
[[nodiscard]] int pending_error(const Fd& socket) noexcept;

/// Closes with a reset instead of an orderly end, dropping what is unsent.
void close_with_reset(Fd& socket) noexcept;

/// A listener whose queue is full, so that the kernel drops further attempts to connect: an address
/// of a machine that is dead.
class SilentListener {
 public:
  explicit SilentListener(const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// Has the kernel take the next attempts, and those that it dropped when they are repeated.
  void accept_all();

 private:
  Fd listener_;
  std::uint16_t port_;
  std::vector<Fd> queue_;
};

/// Wakes a thread that sleeps in poll().
class WakeUp {
 public:
  WakeUp();
  void notify() noexcept;
  void drain() noexcept;
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  Fd fd_;
};

}  // namespace redlock::test
