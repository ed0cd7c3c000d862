#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/fault_clock.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/system/signals.hpp"

namespace redlock::chaos {

/// A redis-server that is there to be broken: it writes its data to an append-only file, and
/// comes back at the same port, with the settings that CONFIG REWRITE has kept. The kernel kills it
/// if this process dies. Used from the main thread.
class FaultServer {
 public:
  enum class WallClock { machine, movable };
  enum class Program { server, sentinel, cluster };

  /// Starts it at one of the ports and waits for its first answer. Throws std::runtime_error.
  FaultServer(std::filesystem::path folder, WallClock clock, cli::LoopbackPorts& ports,
              const cli::Signals& signals, Program program = Program::server);
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The port for the other servers of its cluster.
  [[nodiscard]] std::uint16_t bus_port() const noexcept { return bus_port_; }

  enum class Data { kept, forgotten };
  /// Ends the server with SIGKILL, at once.
  void kill(Data data);
  /// Ends the server with SIGTERM, and gives it time to write its data.
  void shut_down(Data data);
  /// Does not wait for its first answer.
  void start();

  /// Starts the server again if it ended by itself, because its port was taken.
  void look_after();

  void stop() const noexcept;
  void go_on() const noexcept;

  /// Moves the server's clock to this distance from the machine's.
  void move_clock(std::chrono::milliseconds from_machine);

  /// Sends a command and waits for its answer, for a moment at most.
  void command(std::string_view line) const;

 private:
  void take_ports(cli::LoopbackPorts& ports);
  void write_configuration() const;
  void launch();
  void gone(Data data);

  std::filesystem::path folder_;
  std::optional<FaultClock> clock_;
  const cli::Signals& signals_;
  Program kind_;
  std::string program_;
  std::uint16_t port_ = 0;
  std::uint16_t bus_port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace redlock::chaos
