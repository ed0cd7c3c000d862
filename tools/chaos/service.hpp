#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/fault_proxy.hpp"
#include "chaos/fault_server.hpp"
#include "chaos/recorder.hpp"
#include "chaos/schedule.hpp"
#include "common/servers/loopback_ports.hpp"
#include "common/system/signals.hpp"

namespace redlock::chaos {

/// A replicated service, which is the one node of a run: its servers, and what decides which of
/// them is the primary.
class Service {
 public:
  Service() = default;
  virtual ~Service() = default;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// The address of the node for an operator.
  [[nodiscard]] virtual std::string url() const = 0;
  /// Its address for one more contender, who has a link of its own to each server.
  [[nodiscard]] virtual std::string add_contender(const std::vector<std::size_t>& links,
                                                  const std::vector<std::uint16_t>& ports) = 0;

  /// The server of that part now.
  [[nodiscard]] virtual std::size_t server_of(Part part, std::size_t number) const = 0;
  /// For the faults that only a service has.
  virtual void begin(const Fault& fault) = 0;
  virtual void heal(const Fault& fault) = 0;

  /// Looks for a new primary, and records it.
  virtual void look_after(const Recorder& recorder) = 0;
};

struct ServiceParts {
  std::filesystem::path folder{};
  std::vector<std::unique_ptr<FaultServer>>& servers;  ///< started, and still independent
  FaultProxy& proxy;
  cli::LoopbackPorts& ports;
  const cli::Signals& signals;
};

/// One way to run a replicated service.
struct ServiceKind {
  std::string_view name;  ///< and of the option that chooses it
  Manager manager;
  std::size_t servers;      ///< of the service, by default
  std::size_t shards;       ///< each with as many servers; the service is the primary of one
  std::size_t lone;         ///< other servers, which are never broken
  std::string_view prefix;  ///< of the contenders
  FaultServer::Program program;
  /// Returns when the service is complete. Throws std::runtime_error.
  std::unique_ptr<Service> (*start)(const ServiceParts& parts);

  [[nodiscard]] std::size_t in_all(std::size_t servers_of_service) const noexcept {
    return shards * servers_of_service + lone;
  }
};

[[nodiscard]] std::span<const ServiceKind> service_kinds() noexcept;

}  // namespace redlock::chaos
