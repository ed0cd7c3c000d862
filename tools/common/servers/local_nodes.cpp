#include "common/servers/local_nodes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <variant>

#include "common/servers/sentinel_group.hpp"
#include "common/system/child_process.hpp"
#include "common/system/descriptor.hpp"
#include "common/system/platform.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

constexpr auto start_limit = std::chrono::seconds{10};
constexpr int port_attempts = 20;

constexpr std::size_t service_servers = 3;
/// As in the documentation of Redis.
constexpr std::string_view service_name = "mymaster";
constexpr std::string_view sentinel_settings =
    "down-after-milliseconds 1000 failover-timeout 5000 parallel-syncs 2";

/// 128 bits of the kernel's randomness.
std::string make_password() {
  std::random_device source;
  std::string password;
  for (int i = 0; i < 4; ++i) password += fmt::format("{:08x}", source());
  return password;
}

/// As a word in the server's configuration file.
std::string as_configuration_word(std::string_view text) {
  std::string word = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + '"';
}

/// Nobody but its owner can read it, from the moment when it is there.
void write_private_file(const std::string& path, const std::string& content) {
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.valid() ||
      ::write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    throw std::runtime_error(
        fmt::format("--local: {} cannot be written: {}", path, std::strerror(errno)));
  }
}

}  // namespace

LocalNodes::LocalNodes(std::size_t count, const Signals& signals, Reach reach, LoopbackPorts ports)
    : signals_(signals),
      reach_(reach),
      ports_(ports),
      password_(reach == Reach::loopback ? make_password() : std::string()) {
  start(count, 0);
}

LocalNodes::LocalNodes(LocalService service, const Signals& signals)
    : signals_(signals), service_(service), reach_(Reach::loopback), password_(make_password()) {
  start(service_servers, service_servers);
}

void LocalNodes::start(std::size_t servers, std::size_t sentinels) {
  const FoundProgram server = find_program("redis-server");
  if (server.problem != 0) {
    throw std::runtime_error(
        "redis-server is not installed (not found in PATH): install Redis, or name running nodes "
        "with --nodes");
  }
  program_ = server.path;
  directory_ = make_temporary_directory();
  try {
    nodes_.resize(servers + sentinels);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      nodes_[i].number = i + 1;
      nodes_[i].is_sentinel = i >= servers;
      choose_address(nodes_[i]);
      launch(nodes_[i]);
    }
    for (Node& node : nodes_) launch_until_ready(node);
    if (service_) become_service();
  } catch (...) {
    end();
    throw;
  }
}

LocalNodes::~LocalNodes() { end(); }

std::vector<ServerAddress> LocalNodes::sentinels() const {
  std::vector<ServerAddress> addresses;
  for (const Node& node : nodes_) {
    if (node.is_sentinel) addresses.push_back(node.address);
  }
  return addresses;
}

void LocalNodes::become_service() {
  const ServerAddress& primary = nodes_.front().address;
  for (std::size_t i = 1; i < nodes_.size() && !nodes_[i].is_sentinel; ++i) {
    static_cast<void>(ask_server(
        nodes_[i].address, fmt::format("REPLICAOF 127.0.0.1 {}\r\nPING", primary.port), "PONG"));
  }
  const std::vector<ServerAddress> addresses = sentinels();
  const SentinelGroup group{service_name, addresses};
  watch_primary(group, primary.port, password_, sentinel_settings);
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  while (!is_complete(group, primary)) {
    while (const auto signal = signals_.take()) {
      if (ends_process(*signal)) throw EndedBySignal{*signal};
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(
          "--local-sentinel: the sentinels do not find each other and the replicas");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

void LocalNodes::choose_address(Node& node) {
  if (reach_ == Reach::unix_sockets) {
    node.address.path = file_of(node, "sock");
  } else {
    node.address = {{}, ports_.take(), password_};
  }
}

void LocalNodes::launch_until_ready(Node& node) {
  for (int attempt = 1; !wait_until_ready(node); ++attempt) {
    if (attempt == port_attempts) {
      throw std::runtime_error(
          fmt::format("--local: redis-server does not start: {}", log_of(node)));
    }
    kill_and_reap(node.pid);
    node.pid = -1;
    choose_address(node);
    launch(node);
  }
}

void LocalNodes::launch(Node& node) {
  std::string configuration =
      reach_ == Reach::unix_sockets
          ? fmt::format("port 0\nunixsocket {}\nunixsocketperm 700\n",
                        as_configuration_word(node.address.path))
          : fmt::format("port {}\nbind 127.0.0.1\nrequirepass {}\n", node.address.port, password_);
  if (!node.is_sentinel) configuration += "save \"\"\nappendonly no\n";
  if (service_ && !node.is_sentinel) {
    configuration += fmt::format("masterauth {}\nrepl-diskless-sync-delay 0\n", password_);
  }
  configuration +=
      fmt::format("daemonize no\ndir {}\nlogfile {}\n", as_configuration_word(directory_),
                  as_configuration_word(file_of(node, "log")));
  write_private_file(file_of(node, "conf"), configuration);

  ChildRequest request;
  request.program = program_;
  request.arguments = {"redis-server", file_of(node, "conf")};
  if (node.is_sentinel) request.arguments.emplace_back("--sentinel");
  request.environment = environment_of_helper();
  request.streams = ChildRequest::Streams::none;
  const auto started = ChildProcess::start(request, signals_);
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(
        fmt::format("--local: {} cannot be started: {}", program_, std::strerror(*error)));
  }
  node.pid = std::get<ChildProcess>(started).pid();
}

bool LocalNodes::wait_until_ready(const Node& node) const {
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  while (!has_ended(node.pid)) {
    if (answers_as(node.address, node.pid)) return true;
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error(
          fmt::format("--local: redis-server does not answer: {}", log_of(node)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  return false;
}

std::string LocalNodes::file_of(const Node& node, std::string_view ending) const {
  return fmt::format("{}/{}.{}", directory_, node.number, ending);
}

std::string LocalNodes::log_of(const Node& node) const {
  std::ifstream file(file_of(node, "log"));
  std::string last = "it left no log";
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) last = line;
  }
  return as_printable(last);
}

std::vector<std::string> LocalNodes::urls() const {
  if (service_) {
    const std::vector<ServerAddress> addresses = sentinels();
    return {url_of({service_name, addresses})};
  }
  std::vector<std::string> urls;
  for (const Node& node : nodes_) {
    const ServerAddress& address = node.address;
    urls.push_back(address.path.empty()
                       ? fmt::format("redis://:{}@127.0.0.1:{}", address.password, address.port)
                       : "unix://" + address.path);
  }
  return urls;
}

std::vector<std::string> LocalNodes::description(std::chrono::nanoseconds max_ttl) const {
  if (!service_) return {};
  std::string replicas;
  std::string addresses;
  for (const Node& node : nodes_) {
    if (node.number == 1) continue;
    std::string& list = node.is_sentinel ? addresses : replicas;
    list += fmt::format("{}127.0.0.1:{}", list.empty() ? "" : ", ", node.address.port);
  }
  return {fmt::format("started one node: primary 127.0.0.1:{}, replicas {}; sentinels {}",
                      nodes_.front().address.port, replicas, addresses),
          fmt::format("to try a failover: redis-cli -p {} sentinel failover {}; then, as now, no "
                      "lock is granted for {}, and a lock that is held is lost",
                      nodes_.back().address.port, service_name, format_duration(max_ttl))};
}

std::vector<std::string> LocalNodes::environment() const {
  if (!service_) return {};
  return {"REDISCLI_AUTH=" + password_};
}

void LocalNodes::clear() const {
  for (const Node& node : nodes_) {
    // A connection that was closed with commands in it would still be served.
    const std::string answer =
        ask_server(node.address, "CLIENT KILL TYPE normal\r\nFLUSHALL\r\nPING", "PONG");
    if (answer.empty()) {
      throw std::runtime_error(fmt::format("--local: node {} does not answer", node.number));
    }
  }
}

std::chrono::nanoseconds LocalNodes::cpu_time() const {
  std::chrono::nanoseconds total{0};
  for (const Node& node : nodes_) {
    total += platform::cpu_time_of(node.pid).value_or(std::chrono::nanoseconds{0});
  }
  return total;
}

void LocalNodes::strike(std::size_t node, Fault fault) const noexcept {
  const pid_t pid = nodes_[node].pid;
  if (pid > 0) static_cast<void>(::kill(pid, fault == Fault::killed ? SIGKILL : SIGSTOP));
}

void LocalNodes::end() noexcept {
  const std::lock_guard lock(mutex_);
  for (Node& node : nodes_) {
    if (node.pid > 0) kill_and_reap(node.pid);
    node.pid = -1;
  }
  if (directory_.empty()) return;
  std::error_code ignored;
  // A file that cannot be removed is no reason to fail what the user asked for.
  std::filesystem::remove_all(directory_, ignored);
  directory_.clear();
}

}  // namespace redlock::cli
