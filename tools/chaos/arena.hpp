#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/contender.hpp"
#include "chaos/fault_proxy.hpp"
#include "chaos/fault_server.hpp"
#include "chaos/load.hpp"
#include "chaos/recorder.hpp"
#include "chaos/schedule.hpp"
#include "chaos/service.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/system/signals.hpp"
#include "redlock/options.hpp"

namespace redlock::chaos {

struct ArenaRequest {
  std::filesystem::path servers{};    ///< folder for the servers' files
  std::filesystem::path histories{};  ///< folder for the contenders' records
  std::uint64_t seed = 1;
  std::size_t nodes = 5;  ///< the number of servers, if they are one service
  /// None: the servers are independent nodes.
  const ServiceKind* service = nullptr;
  std::size_t contenders = 4;
  std::string unsafe{};  ///< the lock of all contenders; empty: ours
  /// The command of the last contender; empty: that one is ours.
  std::vector<std::string> foreign{};
  std::vector<std::string> resources{};
  FaultServer::WallClock clocks = FaultServer::WallClock::machine;
  bool strangers = false;                 ///< names can lead to a server that is not a node
  std::optional<cli::PortRange> ports{};  ///< the ports of the servers and of the links to them
};

/// Owns the servers, the contenders, and a link from each contender to each server, and breaks and
/// repairs them. When this object is destroyed, it has ended all processes. Used from the main
/// thread.
class Arena {
 public:
  /// Starts the servers and opens the deployment. Throws std::runtime_error.
  Arena(const ArenaRequest& request, const cli::Signals& signals);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void start_contenders();

  /// The fault, with the number of the server that has its part now.
  [[nodiscard]] Fault aimed(Fault fault) const;
  void begin(const Fault& fault);
  void heal(const Fault& fault);

  /// Notes which contenders have ended, and restarts the servers and contenders that should run. A
  /// contender that ended well is done.
  void look_after(const Recorder& recorder);
  [[nodiscard]] bool all_done() const noexcept;

  /// To be called now and then once everything is healed. Calls the operator if two checks in a
  /// row, a second apart, find that too few nodes remember their deployment for the clients to take
  /// the others back. Does not call the operator if no node remembers a deployment, or if an
  /// opening is half done: clients must repair that by themselves, and a run in which they do not
  /// must fail.
  void look_at_markers();

 private:
  struct Contender {
    pid_t pid = -1;
    std::size_t generation = 0;
    enum class State { absent, running, killed, done } state = State::absent;
    std::vector<std::string> urls{};
  };

  void open_deployment() const;
  void start_contender(std::size_t slot);
  static void end(Contender& contender) noexcept;
  void break_node(const Fault& fault, FaultServer& server);
  void mend_node(const Fault& fault, FaultServer& server);
  void set_links(const Fault& fault, LinkRule rule);
  void break_contenders(const Fault& fault);
  void mend_contenders(const Fault& fault);
  [[nodiscard]] std::uint16_t other_port(std::size_t node) const;
  /// Opens a deployment that clients cannot repair, again and again until it succeeds: as its
  /// operator would, with `quorum-lock bootstrap`.
  void call_operator();
  /// The number of nodes that are members; none: it could not be found out.
  [[nodiscard]] std::optional<std::size_t> count_members() const;
  [[nodiscard]] bool is_closed_for_clients() const;
  [[nodiscard]] std::vector<std::string> node_urls() const;
  [[nodiscard]] ClientOptions options() const;

  const ArenaRequest& request_;
  const cli::Signals& signals_;
  cli::LoopbackPorts ports_;
  std::vector<std::unique_ptr<FaultServer>> servers_{};
  std::unique_ptr<FaultServer> stranger_{};  ///< none: names always lead to their nodes
  std::optional<Load> load_{};
  std::vector<Offset> clock_bases_;
  FaultProxy proxy_{};
  std::unique_ptr<Service> service_{};  ///< none: the servers are independent nodes
  std::vector<Contender> contenders_;
  bool needs_operator_ = false;
  bool was_closed_ = false;
  std::chrono::steady_clock::time_point looked_{};
  pid_t operator_pid_ = -1;
  int operator_failures_ = 0;  ///< since it last succeeded
  std::chrono::steady_clock::time_point operator_called_{};
};

}  // namespace redlock::chaos
