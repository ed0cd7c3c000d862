#include "support/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <random>
#include <stdexcept>
#include <system_error>

namespace redlock::test {
namespace {

constexpr unsigned lowest_port = 20000;
constexpr unsigned smallest_choice = 1000;
constexpr int reservation_attempts = 500;

sockaddr_in tcp_address(const std::string& address, std::uint16_t port) {
  sockaddr_in result{};
  result.sin_family = AF_INET;
  result.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1) {
    throw std::invalid_argument("not an IPv4 address: " + address);
  }
  return result;
}

template <typename Address>
const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

unsigned first_ephemeral_port() {
  std::ifstream range("/proc/sys/net/ipv4/ip_local_port_range");
  unsigned first = 0;
  return range >> first ? first : 32768U;
}

unsigned random_port() {
  const unsigned end = first_ephemeral_port();
  if (end < lowest_port + smallest_choice) return 0;
  thread_local std::random_device device;
  return std::uniform_int_distribution<unsigned>(lowest_port, end - 1)(device);
}

Fd new_socket(int family) {
  Fd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) throw_errno("socket");
  return socket;
}

void set_option(const Fd& socket, int level, int option, int value) {
  if (::setsockopt(socket.get(), level, option, &value, sizeof value) != 0)
    throw_errno("setsockopt");
}

Fd bind_tcp(const std::string& address, std::uint16_t port) {
  Fd socket = new_socket(AF_INET);
  set_option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
  const auto where = tcp_address(address, port);
  if (::bind(socket.get(), generic(where), sizeof where) != 0) {
    throw_errno("bind " + address + ":" + std::to_string(port));
  }
  return socket;
}

std::uint16_t bound_port(const Fd& socket) {
  sockaddr_in where{};
  socklen_t size = sizeof where;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&where), &size) != 0) {
    throw_errno("getsockname");
  }
  return ntohs(where.sin_port);
}

// An abstract Unix socket is exclusive within exactly the network namespace that the port belongs
// to, leaves no file behind, and goes away with the process however that ends.
Fd claim_port(std::uint16_t port) {
  const std::string name = "redlock-test-port-" + std::to_string(port);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  Fd claim = new_socket(AF_UNIX);
  if (::bind(claim.get(), generic(where), size) == 0) return claim;
  if (errno != EADDRINUSE) throw_errno("bind " + name);
  return Fd();
}

void finish_connect(const Fd& socket, std::chrono::milliseconds limit, const std::string& what) {
  pollfd entry{socket.get(), POLLOUT, 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(limit.count()));
  errno = ready == 0 ? ETIMEDOUT : errno;
  if (ready <= 0) throw_errno("connect " + what);
  errno = pending_error(socket);
  if (errno != 0) throw_errno("connect " + what);
}

}  // namespace

void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

PortReservation reserve_port(const std::string& address) {
  for (int attempt = 0; attempt < reservation_attempts; ++attempt) {
    try {
      const Fd probe = bind_tcp(address, static_cast<std::uint16_t>(random_port()));
      const std::uint16_t port = bound_port(probe);
      Fd claim = claim_port(port);
      if (claim.valid()) return {port, std::move(claim)};
    } catch (const std::system_error& error) {
      if (error.code().value() != EADDRINUSE) throw;
    }
  }
  throw std::runtime_error("no free port on " + address);
}

Fd listen_on(const std::string& address, std::uint16_t port) {
  Fd listener = bind_tcp(address, port);
  if (::listen(listener.get(), SOMAXCONN) != 0) throw_errno("listen");
  return listener;
}

Fd accept_from(const Fd& listener) {
  Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.valid()) set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  return socket;
}

Fd begin_connect_tcp(const std::string& address, std::uint16_t port) {
  Fd socket = new_socket(AF_INET);
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  const auto where = tcp_address(address, port);
  if (::connect(socket.get(), generic(where), sizeof where) != 0 && errno != EINPROGRESS) {
    throw_errno("connect " + address + ":" + std::to_string(port));
  }
  return socket;
}

Fd connect_tcp(const std::string& address, std::uint16_t port, std::chrono::milliseconds limit) {
  Fd socket = begin_connect_tcp(address, port);
  finish_connect(socket, limit, address + ":" + std::to_string(port));
  return socket;
}

Fd connect_unix(const std::string& path, std::chrono::milliseconds limit) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  if (path.size() >= sizeof where.sun_path) throw std::invalid_argument("path too long: " + path);
  std::memcpy(where.sun_path, path.data(), path.size());
  Fd socket = new_socket(AF_UNIX);
  if (::connect(socket.get(), generic(where), sizeof where) != 0) throw_errno("connect " + path);
  finish_connect(socket, limit, path);
  return socket;
}

int pending_error(const Fd& socket) noexcept {
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void close_with_reset(Fd& socket) noexcept {
  const linger at_once{1, 0};
  // A socket that refuses options can only be closed in order.
  static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
  socket.reset();
}

SilentListener::SilentListener(const std::string& address, std::uint16_t port)
    : listener_(bind_tcp(address, port)), port_(bound_port(listener_)) {
  if (::listen(listener_.get(), 0) != 0) throw_errno("listen");
  // On loopback, a handshake that can complete has completed when connect() returns.
  for (tcp_info state{}; state.tcpi_state != TCP_SYN_SENT;) {
    queue_.push_back(begin_connect_tcp(address, port_));
    socklen_t size = sizeof state;
    if (::getsockopt(queue_.back().get(), IPPROTO_TCP, TCP_INFO, &state, &size) != 0) {
      throw_errno("getsockopt");
    }
  }
}

void SilentListener::accept_all() {
  if (::listen(listener_.get(), SOMAXCONN) != 0) throw_errno("listen");
}

WakeUp::WakeUp() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_.valid()) throw_errno("eventfd");
}

void WakeUp::notify() noexcept {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the sleeper is being woken anyway.
  static_cast<void>(!::write(fd_.get(), &one, sizeof one));
}

void WakeUp::drain() noexcept {
  std::uint64_t count = 0;
  static_cast<void>(!::read(fd_.get(), &count, sizeof count));
}

}  // namespace redlock::test
