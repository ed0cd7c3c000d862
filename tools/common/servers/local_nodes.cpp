#include "common/servers/local_nodes.hpp"

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "common/servers/sentinel_group.hpp"
#include "common/system/platform.hpp"
#include "common/text/duration.hpp"
#include "common/text/text.hpp"

namespace redlock::cli {
namespace {

constexpr auto service_limit = std::chrono::seconds{10};
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
  const std::string program = find_server();
  if (program.empty()) {
    throw std::runtime_error(
        "redis-server is not installed (not found in PATH): install Redis, or name running nodes "
        "with --nodes");
  }
  try {
    directory_ = make_temporary_directory();
    nodes_.resize(servers + sentinels);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      PrivateServer& node = nodes_[i];
      node.program = program;
      node.directory = directory_;
      node.number = i + 1;
      node.is_sentinel = i >= servers;
      if (service_ && !node.is_sentinel) {
        node.settings = fmt::format("masterauth {}\nrepl-diskless-sync-delay 0\n", password_);
      }
      launch(node);
    }
    for (PrivateServer& node : nodes_) launch_until_ready(node);
    if (service_) become_service();
  } catch (const std::runtime_error& error) {
    end();
    throw std::runtime_error(fmt::format("{}: {}", service_ ? "--local-sentinel" : "--local",
                                         as_printable(error.what())));
  } catch (...) {
    end();
    throw;
  }
}

LocalNodes::~LocalNodes() { end(); }

std::vector<ServerAddress> LocalNodes::sentinels() const {
  std::vector<ServerAddress> addresses;
  for (const PrivateServer& node : nodes_) {
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
  const auto deadline = std::chrono::steady_clock::now() + service_limit;
  while (!is_complete(group, primary)) {
    while (const auto signal = signals_.take()) {
      if (ends_process(*signal)) throw EndedBySignal{*signal};
    }
    if (std::chrono::steady_clock::now() > deadline) {
      throw std::runtime_error("the sentinels do not find each other and the replicas");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

void LocalNodes::launch(PrivateServer& node) {
  if (reach_ == Reach::unix_sockets) {
    node.address.path = node.file("sock");
  } else {
    node.address = {{}, ports_.take(), password_};
  }
  node.launch(signals_.for_children());
}

void LocalNodes::launch_until_ready(PrivateServer& node) {
  for (int attempt = 1; !node.wait_until_ready(); ++attempt) {
    if (attempt == port_attempts) {
      throw std::runtime_error(
          fmt::format("redis-server does not start: {}", node.last_log_line()));
    }
    node.end();
    launch(node);
  }
}

std::vector<std::string> LocalNodes::urls() const {
  if (service_) {
    const std::vector<ServerAddress> addresses = sentinels();
    return {url_of({service_name, addresses})};
  }
  std::vector<std::string> urls;
  for (const PrivateServer& node : nodes_) {
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
  for (const PrivateServer& node : nodes_) {
    if (node.number == 1) continue;
    std::string& list = node.is_sentinel ? addresses : replicas;
    list += fmt::format("{}127.0.0.1:{}", list.empty() ? "" : ", ", node.address.port);
  }
  return {
      fmt::format("started one node: primary 127.0.0.1:{}, replicas {}; sentinels {}",
                  nodes_.front().address.port, replicas, addresses),
      fmt::format(
          "to try a failover: redis-cli -p {} sentinel failover {} (it comes about a second "
          "later), or: kill -9 {}, the primary; from the next request after it, no new lock "
          "for {}",
          nodes_.back().address.port, service_name, nodes_.front().pid, format_duration(max_ttl))};
}

std::vector<std::string> LocalNodes::environment() const {
  if (!service_) return {};
  return {"REDISCLI_AUTH=" + password_};
}

void LocalNodes::clear() const {
  for (const PrivateServer& node : nodes_) {
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
  for (const PrivateServer& node : nodes_) {
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
  for (PrivateServer& node : nodes_) node.end();
  if (directory_.empty()) return;
  std::error_code ignored;
  // A file that cannot be removed is no reason to fail what the user asked for.
  std::filesystem::remove_all(directory_, ignored);
  directory_.clear();
}

}  // namespace redlock::cli
