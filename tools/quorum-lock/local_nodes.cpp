#include "quorum-lock/local_nodes.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <variant>

#include "quorum-lock/child_process.hpp"
#include "quorum-lock/descriptor.hpp"
#include "quorum-lock/text.hpp"

namespace redlock::cli {
namespace {

constexpr auto start_limit = std::chrono::seconds{10};
constexpr int port_attempts = 20;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool is_free(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return socket.valid() &&
         ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

/// Below the kernel's ephemeral range: a port from there may be given to any outgoing connection
/// between our look and the server's start.
std::uint16_t pick_port() {
  std::random_device source;
  std::uniform_int_distribution<std::uint16_t> ports(10'000, 32'000);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::uint16_t port = ports(source);
    if (is_free(port)) return port;
  }
  throw std::runtime_error("--local: no free port found on loopback");
}

std::string make_directory() {
  const char* parent = std::getenv("TMPDIR");
  std::string name =
      std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/quorum-lock-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error(
        fmt::format("--local: no directory can be made as {}: {}", name, std::strerror(errno)));
  }
  return name;
}

/// What the server on this port says to INFO; empty while nobody answers.
std::string ask_info(std::uint16_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  constexpr std::string_view question = "INFO server\r\n";
  if (!socket.valid() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(question.size())) {
    return {};
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  while (answer.find("process_id:") == std::string::npos ||
         answer.find("\r\n", answer.find("process_id:")) == std::string::npos) {
    pollfd readable{socket.get(), POLLIN, 0};
    if (::poll(&readable, 1, 1000) <= 0) return {};
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return {};
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return answer;
}

bool has_ended(pid_t pid) {
  siginfo_t info{};
  // Left for end() to reap, so that the number stays ours.
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid;
}

void kill_and_reap(pid_t pid) noexcept {
  static_cast<void>(::kill(pid, SIGKILL));
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

LocalNodes::LocalNodes(std::size_t count, const Signals& signals) {
  const FoundProgram server = find_program("redis-server");
  if (server.problem != 0) {
    throw std::runtime_error(
        "--local: redis-server is not installed (not found in PATH): install Redis, or name "
        "running nodes with --nodes");
  }
  directory_ = make_directory();
  try {
    nodes_.resize(count);
    for (Node& node : nodes_) launch(node, server.path, signals);
    for (Node& node : nodes_) {
      for (int attempt = 1; !wait_until_ready(node); ++attempt) {
        if (attempt == port_attempts) {
          throw std::runtime_error(
              fmt::format("--local: redis-server does not start: {}", log_of(node)));
        }
        kill_and_reap(node.pid);
        node.pid = -1;
        launch(node, server.path, signals);
      }
    }
  } catch (...) {
    end();
    throw;
  }
}

LocalNodes::~LocalNodes() { end(); }

void LocalNodes::launch(Node& node, const std::string& program, const Signals& signals) {
  node.port = pick_port();
  ChildRequest request;
  request.program = program;
  request.arguments = {"redis-server",
                       "--port",
                       std::to_string(node.port),
                       "--bind",
                       "127.0.0.1",
                       "--save",
                       "",
                       "--appendonly",
                       "no",
                       "--daemonize",
                       "no",
                       "--dir",
                       directory_,
                       "--logfile",
                       fmt::format("{}/{}.log", directory_, node.port)};
  request.environment = environment_with({}, {"QUORUM_LOCK_NODES"});
  request.streams = ChildRequest::Streams::none;
  const auto started = ChildProcess::start(request, signals);
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(
        fmt::format("--local: {} can not be started: {}", program, std::strerror(*error)));
  }
  node.pid = std::get<ChildProcess>(started).pid();
}

bool LocalNodes::wait_until_ready(const Node& node) const {
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  // Another server that was quicker to take the port would answer too.
  const std::string ours = fmt::format("process_id:{}\r\n", node.pid);
  while (!has_ended(node.pid)) {
    if (ask_info(node.port).find(ours) != std::string::npos) return true;
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(
          fmt::format("--local: redis-server does not answer: {}", log_of(node)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return false;
}

std::string LocalNodes::log_of(const Node& node) const {
  std::ifstream file(fmt::format("{}/{}.log", directory_, node.port));
  std::string last = "it left no log";
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return as_printable(last);
}

std::vector<std::string> LocalNodes::urls() const {
  std::vector<std::string> urls;
  for (const Node& node : nodes_) urls.push_back(fmt::format("redis://127.0.0.1:{}", node.port));
  return urls;
}

void LocalNodes::end() noexcept {
  const std::lock_guard lock(mutex_);
  for (Node& node : nodes_) {
    if (node.pid > 0) kill_and_reap(node.pid);
    node.pid = -1;
  }
  if (directory_.empty()) return;
  std::error_code ignored;
  // A file that can not be removed is no reason to fail what the user asked for.
  std::filesystem::remove_all(directory_, ignored);
  directory_.clear();
}

}  // namespace redlock::cli
