#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/servers/loopback_ports.hpp"
#include "common/servers/loopback_server.hpp"
#include "common/servers/private_server.hpp"
#include "common/system/signals.hpp"

namespace redlock::cli {

/// The replicated services that can be started as one private node.
enum class LocalService { sentinel };

/// Private redis-server processes without persistence, in a temporary directory. No other user of
/// the machine gets in. They and the directory are gone when this object is; the kernel ends the
/// servers if this process is killed. Start it from the main thread.
class LocalNodes {
 public:
  /// On Unix sockets in the directory, which only this user can enter; or on loopback ports with a
  /// password that is in no argument list, to measure TCP.
  enum class Reach { unix_sockets, loopback };

  /// Returns when all of them answer. Throws std::runtime_error with one line that says what is
  /// missing.
  LocalNodes(std::size_t count, const Signals& signals, Reach reach = Reach::unix_sockets,
             LoopbackPorts ports = LoopbackPorts());
  /// One node: a primary, two replicas and three sentinels, on loopback with a password. Returns
  /// when a failover can succeed. Throws EndedBySignal if a signal comes before that.
  LocalNodes(LocalService service, const Signals& signals);
  ~LocalNodes();
  LocalNodes(const LocalNodes&) = delete;
  LocalNodes& operator=(const LocalNodes&) = delete;

  /// With the password, if there is one.
  [[nodiscard]] std::vector<std::string> urls() const;
  /// What was started, and what to try with it, for people: one line each. Empty for independent
  /// servers.
  [[nodiscard]] std::vector<std::string> description(std::chrono::nanoseconds max_ttl) const;
  /// The variables with which redis-cli has the password; empty: it needs none.
  [[nodiscard]] std::vector<std::string> environment() const;

  /// Cuts all connections to the servers, and makes them forget everything.
  void clear() const;

  /// User plus system time that the servers have used.
  [[nodiscard]] std::chrono::nanoseconds cpu_time() const;

  /// Faults of a server: SIGKILL, SIGSTOP.
  enum class Fault { killed, stopped };
  /// Only sends the signal, so a loop that measures can call it.
  void strike(std::size_t node, Fault fault) const noexcept;

  /// Ends the servers and removes the directory. May be called from any thread, more than once.
  void end() noexcept;

 private:
  void start(std::size_t servers, std::size_t sentinels);
  void become_service();
  [[nodiscard]] std::vector<ServerAddress> sentinels() const;

  /// At a new address.
  void launch(PrivateServer& node);
  /// Waits for the started server. If it ends before it is ready, starts it at a new address, a few
  /// times. Throws std::runtime_error.
  void launch_until_ready(PrivateServer& node);

  const Signals& signals_;
  std::optional<LocalService> service_{};
  Reach reach_;
  LoopbackPorts ports_;
  std::string password_;
  std::mutex mutex_;
  std::string directory_;
  std::vector<PrivateServer> nodes_;
};

}  // namespace redlock::cli
