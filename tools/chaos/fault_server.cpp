#include "chaos/fault_server.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <ios>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "common/servers/loopback_server.hpp"
#include "common/system/child_process.hpp"

namespace redlock::chaos {
namespace {

constexpr auto start_limit = std::chrono::seconds{10};
constexpr auto end_limit = std::chrono::seconds{2};
constexpr auto pace = std::chrono::milliseconds{2};

}  // namespace

FaultServer::FaultServer(std::filesystem::path folder, WallClock clock, cli::LoopbackPorts& ports,
                         const cli::Signals& signals, Program program)
    : folder_(std::move(folder)), signals_(signals), kind_(program) {
  const cli::FoundProgram server = cli::find_program("redis-server");
  if (server.problem != 0) {
    throw std::runtime_error(
        "chaos: redis-server is not installed (not found in PATH): install Redis");
  }
  program_ = server.path;
  std::filesystem::create_directories(folder_ / "data");
  if (clock == WallClock::movable) clock_.emplace(folder_);
  const auto deadline = std::chrono::steady_clock::now() + start_limit;
  take_ports(ports);
  launch();
  while (!cli::answers_as({.port = port_}, pid_)) {
    if (std::chrono::steady_clock::now() > deadline) {
      gone(Data::forgotten);
      throw std::runtime_error(
          fmt::format("chaos: redis-server does not answer{}",
                      kind_ == Program::cluster ? "; a cluster needs Redis 7.0 or later" : ""));
    }
    std::this_thread::sleep_for(pace);
    if (!cli::has_ended(pid_)) continue;
    gone(Data::forgotten);
    take_ports(ports);
    launch();
  }
  if (!clock_ || clock_->is_followed_by(pid_)) return;
  gone(Data::forgotten);
  throw std::runtime_error(fmt::format(
      "chaos: {} follows no clock that is moved: it is linked statically, or nothing can "
      "be run from {}; leave clock out of --faults",
      program_, folder_.native()));
}

FaultServer::~FaultServer() {
  if (pid_ > 0) gone(Data::kept);
}

void FaultServer::take_ports(cli::LoopbackPorts& ports) {
  port_ = ports.take();
  if (kind_ == Program::cluster) bus_port_ = ports.take();
  write_configuration();
}

void FaultServer::write_configuration() const {
  std::ofstream file(folder_ / "conf", std::ios::trunc);
  file << "port " << port_ << "\nbind 127.0.0.1\ndaemonize no\nlogfile \""
       << (folder_ / "log").native() << "\"\ndir \"" << (folder_ / "data").native() << "\"\n";
  if (kind_ == Program::cluster) {
    // A server that lost its data still knows its cluster.
    file << "cluster-enabled yes\ncluster-config-file \"" << (folder_ / "nodes.conf").native()
         << "\"\ncluster-port " << bus_port_
         << "\ncluster-announce-ip 127.0.0.1\ncluster-node-timeout 1000\n"
            "cluster-allow-replica-migration no\ncluster-require-full-coverage no\n";
  }
  if (kind_ != Program::sentinel) {
    file << "save \"\"\nappendonly yes\nappendfsync no\n"
            // Another node may become our replica, and must not wait for more.
            "repl-diskless-sync yes\nrepl-diskless-sync-delay 0\n";
  }
  file.close();
  if (!file) throw std::runtime_error(fmt::format("'{}' cannot be written", folder_.native()));
}

void FaultServer::launch() {
  cli::ChildRequest request;
  request.program = program_;
  request.arguments = {"redis-server", (folder_ / "conf").string()};
  if (kind_ == Program::sentinel) request.arguments.emplace_back("--sentinel");
  request.environment =
      cli::environment_of_helper(clock_ ? clock_->environment() : std::vector<std::string>{});
  request.streams = cli::ChildRequest::Streams::none;
  const auto started = cli::ChildProcess::start(request, signals_.for_children());
  if (const int* error = std::get_if<int>(&started)) {
    throw std::runtime_error(
        fmt::format("chaos: {} cannot be started: {}", program_, std::strerror(*error)));
  }
  pid_ = std::get<cli::ChildProcess>(started).pid();
}

void FaultServer::gone(Data data) {
  cli::kill_and_reap(pid_);
  pid_ = -1;
  if (data == Data::kept) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_ / "data", ignored);
  std::filesystem::create_directories(folder_ / "data", ignored);
}

void FaultServer::kill(Data data) { gone(data); }

void FaultServer::shut_down(Data data) {
  static_cast<void>(::kill(pid_, SIGTERM));
  const auto deadline = std::chrono::steady_clock::now() + end_limit;
  while (!cli::has_ended(pid_) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(pace);
  }
  gone(data);
}

void FaultServer::start() { launch(); }

void FaultServer::look_after() {
  if (pid_ < 0 || !cli::has_ended(pid_)) return;
  gone(Data::kept);
  launch();
}

void FaultServer::stop() const noexcept { static_cast<void>(::kill(pid_, SIGSTOP)); }
void FaultServer::go_on() const noexcept { static_cast<void>(::kill(pid_, SIGCONT)); }

void FaultServer::move_clock(std::chrono::milliseconds from_machine) {
  if (clock_) clock_->move(from_machine);
}

void FaultServer::command(std::string_view line) const {
  // Whether it was done shows in what the node does.
  static_cast<void>(cli::ask_server({.port = port_}, line, ""));
}

}  // namespace redlock::chaos
