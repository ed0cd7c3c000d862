#include "quorum-lock/local_nodes.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <variant>

#include "quorum-lock/child_process.hpp"
#include "quorum-lock/loopback_server.hpp"
#include "quorum-lock/text.hpp"

namespace redlock::cli {
namespace {

constexpr auto start_limit = std::chrono::seconds{10};
constexpr int port_attempts = 20;

}  // namespace

LocalNodes::LocalNodes(std::size_t count, const Signals& signals) {
  const FoundProgram server = find_program("redis-server");
  if (server.problem != 0) {
    throw std::runtime_error(
        "--local: redis-server is not installed (not found in PATH): install Redis, or name "
        "running nodes with --nodes");
  }
  directory_ = make_temporary_directory();
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
  node.port = pick_loopback_port();
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
  while (!has_ended(node.pid)) {
    if (answers_as(node.port, node.pid)) return true;
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
