#include "common/servers/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/system/descriptor.hpp"
#include "common/system/platform.hpp"

namespace redlock::cli {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Descriptor connect_to(const ServerAddress& server) {
  const bool is_unix = !server.path.empty();
  Descriptor socket(platform::open_socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM));
  int connected = -1;
  if (is_unix) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (server.path.size() >= sizeof address.sun_path) return {};
    server.path.copy(address.sun_path, server.path.size());
    connected =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } else {
    const sockaddr_in address = loopback(server.port);
    connected =
        ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  if (connected != 0) return {};
  return socket;
}

/// A socket's path has 107 bytes, and is part of a URL, which is part of a list.
bool is_fit_for_sockets(std::string_view directory) {
  constexpr std::size_t longest = 80;
  return directory.size() <= longest && directory.starts_with('/') &&
         std::all_of(directory.begin(), directory.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace

std::string make_temporary_directory() {
  const char* parent = std::getenv("TMPDIR");
  std::string name =
      std::string(parent != nullptr && is_fit_for_sockets(parent) ? parent : "/tmp") +
      "/quorum-lock-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    const std::string problem = std::strerror(errno);
    throw std::runtime_error("no directory can be made as " + name + ": " + problem);
  }
  return name;
}

ServerConnection::ServerConnection(ServerAddress server)
    : server_(std::move(server)), socket_(connect_to(server_)) {}

std::string ServerConnection::ask(std::string_view line, std::string_view wanted) const {
  std::string question;
  if (!server_.password.empty()) question = "AUTH " + server_.password + "\r\n";
  question.append(line).append("\r\n");
  if (!socket_.valid() || platform::send_quietly(socket_.get(), question.data(), question.size()) !=
                              static_cast<ssize_t>(question.size())) {
    return {};
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  while (answer.find(wanted) == std::string::npos ||
         answer.find("\r\n", answer.find(wanted)) == std::string::npos) {
    pollfd readable{socket_.get(), POLLIN, 0};
    if (::poll(&readable, 1, 1000) <= 0) return {};
    const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return {};
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return answer;
}

std::string ask_server(const ServerAddress& server, std::string_view line,
                       std::string_view wanted) {
  return ServerConnection(server).ask(line, wanted);
}

bool answers_as(const ServerAddress& server, pid_t pid) {
  const std::string ours = "process_id:" + std::to_string(pid) + "\r\n";
  return ask_server(server, "INFO server", "process_id:").find(ours) != std::string::npos;
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid;
}

void kill_and_reap(pid_t pid) noexcept {
  if (pid <= 0) return;  // it would mean all processes, or a group
  static_cast<void>(::kill(pid, SIGKILL));
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace redlock::cli
