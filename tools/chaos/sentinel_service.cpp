#include "chaos/sentinel_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/servers/loopback_server.hpp"
#include "common/servers/sentinel_group.hpp"

namespace redlock::chaos {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view service_name = "chaos";
constexpr auto complete_limit = std::chrono::seconds{20};
constexpr auto complete_pace = std::chrono::milliseconds{20};
constexpr auto look_pace = std::chrono::milliseconds{100};

/// As quick as sentinels can be without taking the primary for dead after each failover. Those
/// before Redis 7.0 have no SENTINEL DEBUG, and are slower.
constexpr std::string_view settings =
    "down-after-milliseconds 700 failover-timeout 2000 parallel-syncs 8";
constexpr std::string_view debug_settings =
    "SENTINEL DEBUG ping-period 200 info-period 1000 publish-period 500 tilt-period 2000 "
    "min-link-reconnect-period 1000";

class SentinelService final : public Service {
 public:
  explicit SentinelService(const ServiceParts& parts)
      : servers_(parts.servers), proxy_(parts.proxy), ports_(parts.ports) {
    for (const auto& server : servers_) {
      peer_links_.push_back(proxy_.size());
      peer_ports_.push_back(proxy_.add(server->port(), ports_.take_for_listener()));
    }
    for (std::size_t server = 0; server < servers_.size(); ++server) join(server);
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      sentinels_.push_back(std::make_unique<FaultServer>(
          parts.folder / fmt::format("sentinel-{}", i), FaultServer::WallClock::machine, ports_,
          parts.signals, FaultServer::Program::sentinel));
      addresses_.push_back({.port = sentinels_.back()->port()});
    }
    const cli::SentinelGroup group{service_name, addresses_};
    cli::watch_primary(group, peer_ports_[0], {}, settings);
    for (const auto& sentinel : sentinels_) sentinel->command(debug_settings);
    const auto deadline = Clock::now() + complete_limit;
    while (!cli::is_complete(group, {.port = servers_[0]->port()})) {
      if (Clock::now() > deadline) {
        throw std::runtime_error("chaos: the sentinels do not find each other and the replicas");
      }
      std::this_thread::sleep_for(complete_pace);
    }
  }

  [[nodiscard]] std::string url() const override { return cli::url_of({service_name, addresses_}); }

  [[nodiscard]] std::string add_contender(const std::vector<std::size_t>& links,
                                          const std::vector<std::uint16_t>& ports) override {
    PortNames renamed;
    for (std::size_t i = 0; i < ports.size(); ++i) renamed[peer_ports_[i]] = ports[i];
    Contender contender{links, {}};
    std::vector<cli::ServerAddress> to_sentinels;
    for (const auto& sentinel : sentinels_) {
      contender.to_sentinels.push_back(proxy_.size());
      to_sentinels.push_back(
          {.port = proxy_.add(sentinel->port(), ports_.take_for_listener(), renamed)});
    }
    contenders_.push_back(std::move(contender));
    return cli::url_of({service_name, to_sentinels});
  }

  [[nodiscard]] std::size_t server_of(Part part, std::size_t number) const override {
    if (part == Part::primary) return primary_;
    return number < primary_ ? number : number + 1;
  }

  void begin(const Fault& fault) override {
    switch (fault.form) {
      case FaultForm::failover_ordered:
        return order_failover();
      case FaultForm::primary_cut_off:
        return cut_off(fault, {LinkMode::hold});
      case FaultForm::replica_exchanged:
        return servers_[*fault.node]->command("REPLICAOF NO ONE");
      default:
        return;
    }
  }

  void heal(const Fault& fault) override {
    if (fault.form == FaultForm::primary_cut_off) return cut_off(fault, {});
    // It may have become the primary meanwhile.
    if (fault.form == FaultForm::replica_exchanged && *fault.node != primary_) {
      follow(*fault.node, primary_);
    }
  }

  void look_after(const Recorder& recorder) override {
    for (const auto& sentinel : sentinels_) sentinel->look_after();
    const auto now = Clock::now();
    if (now < looked_ + look_pace) return;
    looked_ = now;
    const auto named = named_primary();
    if (!named || *named == primary_) return;
    recorder.write(fmt::format("failover {} {} {}", primary_, *named, boot_now()));
    primary_ = *named;
  }

 private:
  struct Contender {
    std::vector<std::size_t> to_servers;
    std::vector<std::size_t> to_sentinels;
  };

  /// Others know the server by its own link.
  void join(std::size_t server) {
    servers_[server]->command(fmt::format(
        "CONFIG SET replica-announce-ip 127.0.0.1 replica-announce-port {}", peer_ports_[server]));
    if (server != primary_) follow(server, primary_);
    servers_[server]->command("CONFIG REWRITE");
  }
  void follow(std::size_t server, std::size_t primary) {
    servers_[server]->command(fmt::format("REPLICAOF 127.0.0.1 {}", peer_ports_[primary]));
  }

  /// The primary that most sentinels name.
  [[nodiscard]] std::optional<std::size_t> named_primary() const {
    std::map<std::size_t, std::size_t> votes;
    for (const auto& sentinel : sentinels_) {
      const auto named = std::find(peer_ports_.begin(), peer_ports_.end(),
                                   cli::named_primary({.port = sentinel->port()}, service_name));
      if (named == peer_ports_.end()) continue;
      const auto server = static_cast<std::size_t>(named - peer_ports_.begin());
      if (++votes[server] > sentinels_.size() / 2) return server;
    }
    return std::nullopt;
  }

  void order_failover() {
    asked_ = (asked_ + 1) % sentinels_.size();
    sentinels_[asked_]->command(fmt::format("SENTINEL FAILOVER {}", service_name));
  }

  /// The network falls into two parts: the primary and some contenders, and all others.
  void cut_off(const Fault& fault, LinkRule rule) {
    const std::size_t primary = *fault.node;
    proxy_.set(peer_links_[primary], rule);
    for (std::size_t slot = 0; slot < contenders_.size(); ++slot) {
      const Contender& contender = contenders_[slot];
      const bool with_primary = (fault.contenders >> slot & 1U) != 0;
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if (with_primary != (server == primary)) proxy_.set(contender.to_servers[server], rule);
      }
      if (!with_primary) continue;
      for (const std::size_t link : contender.to_sentinels) proxy_.set(link, rule);
    }
  }

  std::vector<std::unique_ptr<FaultServer>>& servers_;
  FaultProxy& proxy_;
  cli::LoopbackPorts& ports_;
  std::vector<std::size_t> peer_links_{};
  std::vector<std::uint16_t> peer_ports_{};
  std::vector<std::unique_ptr<FaultServer>> sentinels_{};
  std::vector<cli::ServerAddress> addresses_{};  ///< of the sentinels
  std::vector<Contender> contenders_{};
  std::size_t primary_ = 0;
  std::size_t asked_ = 0;
  Clock::time_point looked_{};
};

}  // namespace

std::unique_ptr<Service> start_sentinel_service(const ServiceParts& parts) {
  return std::make_unique<SentinelService>(parts);
}

}  // namespace redlock::chaos
