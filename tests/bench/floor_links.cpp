#include "floor_links.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/system/platform.hpp"

namespace redlock::bench {
namespace {

using cli::Descriptor;

constexpr std::string_view release_script =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";
constexpr std::size_t sha_length = 40;
constexpr timeval setup_limit{1, 0};
constexpr std::size_t max_nodes = 64;
constexpr std::size_t max_in_flight = 4096;

bool set_option(int fd, int level, int name, const void* value, socklen_t size) {
  return setsockopt(fd, level, name, value, size) == 0;
}

bool limit_waiting(int fd, timeval limit) {
  return set_option(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) &&
         set_option(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

Descriptor connect_to(int family, const sockaddr* address, socklen_t size) {
  Descriptor fd{cli::platform::open_socket(family, SOCK_STREAM)};
  if (!fd.valid() || !limit_waiting(fd.get(), setup_limit)) return {};
  if (connect(fd.get(), address, size) != 0) return {};
  const int on = 1;
  if (family != AF_UNIX && !set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on)) {
    return {};
  }
  return fd;
}

Descriptor connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return {};
  std::memcpy(address.sun_path, path.data(), path.size());
  return connect_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

Descriptor connect_tcp(const Endpoint& node) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(node.port);
  if (getaddrinfo(node.host.c_str(), port.c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner{found, &freeaddrinfo};
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Descriptor fd = connect_to(at->ai_family, at->ai_addr, at->ai_addrlen);
    if (fd.valid()) return fd;
  }
  return {};
}

/// Whether the node accepts the password, or needs none.
bool authenticate(int fd, const std::string& password) {
  if (password.empty()) return true;
  const std::string command =
      "*2\r\n$4\r\nAUTH\r\n$" + std::to_string(password.size()) + "\r\n" + password + "\r\n";
  constexpr std::string_view wanted = "+OK\r\n";
  std::array<char, wanted.size()> reply{};
  return cli::platform::send_quietly(fd, command.data(), command.size()) ==
             static_cast<ssize_t>(command.size()) &&
         recv(fd, reply.data(), reply.size(), MSG_WAITALL) == static_cast<ssize_t>(reply.size()) &&
         std::string_view(reply.data(), reply.size()) == wanted;
}

/// Returns the script's digest, or nothing if the node refuses or stays silent.
std::string load_script(int fd) {
  std::string command = "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$";
  command += std::to_string(release_script.size()) + "\r\n";
  command += release_script;
  command += "\r\n";
  if (cli::platform::send_quietly(fd, command.data(), command.size()) !=
      static_cast<ssize_t>(command.size())) {
    return {};
  }
  constexpr std::string_view header = "$40\r\n";
  std::array<char, header.size() + sha_length + 2> reply{};
  std::size_t filled = 0;
  while (filled < reply.size()) {
    const ssize_t got = recv(fd, reply.data() + filled, reply.size() - filled, 0);
    if (got <= 0) return {};
    filled += static_cast<std::size_t>(got);
    if (reply[0] != header[0]) return {};
  }
  return {reply.data() + header.size(), sha_length};
}

std::string complaint(const CycleSettings& settings) {
  if (settings.nodes.empty() || settings.nodes.size() > max_nodes) {
    return "a floor needs 1 to " + std::to_string(max_nodes) + " nodes, not " +
           std::to_string(settings.nodes.size());
  }
  if (settings.in_flight == 0 || settings.in_flight > max_in_flight) {
    return "a floor keeps 1 to " + std::to_string(max_in_flight) + " locks in flight, not " +
           std::to_string(settings.in_flight);
  }
  if (settings.ttl.count() <= 0) return "the TTL must be positive";
  if (settings.duration.count() <= 0) return "a run needs a duration";
  return {};
}

}  // namespace

std::variant<FloorLinks, std::string> open_floor_links(const CycleSettings& settings) {
  if (std::string wrong = complaint(settings); !wrong.empty()) return wrong;
  FloorLinks links;
  std::size_t ready = 0;
  for (const Endpoint& node : settings.nodes) {
    Descriptor fd = node.unix_path.empty() ? connect_tcp(node) : connect_unix(node.unix_path);
    const bool open = fd.valid() && authenticate(fd.get(), node.password);
    const std::string sha = open ? load_script(fd.get()) : std::string{};
    if (sha.empty() || !limit_waiting(fd.get(), timeval{})) {
      links.sockets.emplace_back();
      continue;
    }
    links.script_sha = sha;
    links.sockets.push_back(std::move(fd));
    ++ready;
  }
  if (ready < settings.quorum()) {
    return "only " + std::to_string(ready) + " of " + std::to_string(settings.nodes.size()) +
           " nodes answer, " + std::to_string(settings.quorum()) + " are needed";
  }
  return links;
}

}  // namespace redlock::bench
