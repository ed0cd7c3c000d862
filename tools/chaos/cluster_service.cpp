#include "chaos/cluster_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/servers/loopback_server.hpp"

namespace redlock::chaos {
namespace {

constexpr auto cluster_limit = std::chrono::seconds{40};
constexpr auto cluster_pace = std::chrono::milliseconds{50};
constexpr auto introduction_pace = std::chrono::seconds{1};
constexpr auto agreement_limit = std::chrono::seconds{1};
constexpr auto owner_pace = std::chrono::milliseconds{100};

/// The slot of the contenders' prefix, in the first shard at the start.
constexpr unsigned slot_of_locks = 4772;
constexpr std::string_view key_in_slot = "{chaos}";
/// A key for each shard, in another slot, which stays there.
constexpr std::string_view keys_of_shards[] = {"{b}", "{c}"};
/// The slots of each shard and of the third primary.
constexpr std::string_view ranges_of_slots[] = {"0 5460", "5461 10922", "10923 16383"};

/// The strings in a reply that is an array of strings.
std::vector<std::string> strings_in(std::string_view reply) {
  std::vector<std::string> result;
  for (std::size_t at = 0; (at = reply.find('$', at)) != std::string_view::npos;) {
    std::size_t size = 0;
    const auto [end, error] =
        std::from_chars(reply.data() + at + 1, reply.data() + reply.size(), size);
    if (error != std::errc{}) break;
    at = static_cast<std::size_t>(end - reply.data()) + 2;
    if (at + size > reply.size()) break;
    result.emplace_back(reply.substr(at, size));
    at += size;
  }
  return result;
}

/// A reply of several lines ends before that of a PING after it.
std::string ask_port(std::uint16_t port, std::string_view line) {
  return cli::ask_server({.port = port}, fmt::format("{}\r\nPING", line), "+PONG");
}

/// The number in a line that is an integer.
std::optional<unsigned> integer_in(std::string_view line) {
  unsigned number = 0;
  if (!line.starts_with(':')) return std::nullopt;
  const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

class ClusterService final : public Service {
 public:
  explicit ClusterService(const ServiceParts& parts)
      : servers_(parts.servers),
        proxy_(parts.proxy),
        ports_(parts.ports),
        in_shard_((servers_.size() - 1) / 2),
        third_(servers_.size() - 1) {
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      ids_.push_back(strings_in(ask(server, "CLUSTER MYID")).at(0));
      servers_[server]->command(fmt::format("CLUSTER SET-CONFIG-EPOCH {}", server + 1));
      if (server == 0) continue;
      servers_[0]->command(fmt::format("CLUSTER MEET 127.0.0.1 {} {}", servers_[server]->port(),
                                       servers_[server]->bus_port()));
    }
    const std::string all_known = fmt::format("cluster_known_nodes:{}\r\n", servers_.size());
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      wait_until_says(server, "CLUSTER INFO", all_known);
    }
    for (std::size_t shard = 0; shard < std::size(ranges_of_slots); ++shard) {
      servers_[shard * in_shard_]->command(
          fmt::format("CLUSTER ADDSLOTSRANGE {}", ranges_of_slots[shard]));
    }
    for (std::size_t server = 0; server < third_; ++server) {
      const std::size_t primary = first_of_shard(server);
      if (server == primary) continue;
      // It may not know the primary by its name yet.
      wait_until(
          [&] { return agrees(server, fmt::format("CLUSTER REPLICATE {}", ids_[primary])); });
    }
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      wait_until_says(server, "CLUSTER INFO", "cluster_state:ok");
      if (server == third_ || server == first_of_shard(server)) continue;
      wait_until_says(server, "INFO replication", "master_link_status:up");
    }
  }

  [[nodiscard]] std::string url() const override {
    std::vector<std::uint16_t> ports;
    for (const std::size_t guide : guides()) ports.push_back(servers_[guide]->port());
    return url_of(ports);
  }

  [[nodiscard]] std::string add_contender(const std::vector<std::size_t>& links,
                                          const std::vector<std::uint16_t>& ports) override {
    PortNames renamed;
    for (std::size_t i = 0; i < ports.size(); ++i) renamed[servers_[i]->port()] = ports[i];
    Contender contender{links, {}};
    std::vector<std::uint16_t> to_guides;
    for (const std::size_t guide : guides()) {
      contender.to_guides.push_back(proxy_.size());
      to_guides.push_back(proxy_.add(servers_[guide]->port(), ports_.take_for_listener(), renamed));
    }
    contenders_.push_back(std::move(contender));
    return url_of(to_guides);
  }

  [[nodiscard]] std::size_t server_of(Part part, std::size_t number) const override {
    if (part == Part::primary) return primary_;
    const std::size_t replica = first_of_shard(primary_) + number;
    return replica < primary_ ? replica : replica + 1;
  }

  void begin(const Fault& fault) override {
    switch (fault.form) {
      case FaultForm::failover_ordered:
        return next_replica().command("CLUSTER FAILOVER");
      case FaultForm::primary_taken_over:
        if (fault.end > fault.begin) servers_[*fault.node]->stop();
        return next_replica().command("CLUSTER FAILOVER TAKEOVER");
      case FaultForm::primary_cut_off:
        return cut_off(fault);
      case FaultForm::slot_moved:
        return move_slot();
      default:
        return;
    }
  }

  void heal(const Fault& fault) override {
    if (fault.form == FaultForm::primary_taken_over) servers_[*fault.node]->go_on();
    if (fault.form == FaultForm::primary_cut_off) join_again(fault);
    if (fault.form == FaultForm::slot_moved) move_slot();
  }

  void look_after(const Recorder& recorder) override {
    const auto now = std::chrono::steady_clock::now();
    if (now < looked_ + owner_pace) return;
    looked_ = now;
    if (outcast_ && now >= introduced_ + introduction_pace) introduce();
    const auto named = owner_of(key_in_slot);
    if (!named || *named == primary_) return;
    recorder.write(fmt::format("failover {} {} {}", primary_, *named, boot_now()));
    primary_ = *named;
  }

 private:
  struct Contender {
    std::vector<std::size_t> to_servers;
    std::vector<std::size_t> to_guides;
  };

  /// The servers that a contender knows.
  [[nodiscard]] std::vector<std::size_t> guides() const { return {0, in_shard_, third_}; }
  [[nodiscard]] std::string url_of(const std::vector<std::uint16_t>& ports) const {
    std::string hosts;
    for (const std::uint16_t port : ports) {
      hosts += fmt::format("{}127.0.0.1:{}", hosts.empty() ? "" : ";", port);
    }
    return fmt::format("redis+cluster://{}/?servers={}", hosts, in_shard_);
  }
  [[nodiscard]] std::size_t first_of_shard(std::size_t server) const {
    return server / in_shard_ * in_shard_;
  }

  [[nodiscard]] std::string ask(std::size_t server, std::string_view line) const {
    return ask_port(servers_[server]->port(), line);
  }
  [[nodiscard]] bool agrees(std::size_t server, std::string_view line) const {
    return ask(server, line).starts_with("+OK");
  }

  template <typename Condition>
  static void wait_until(const Condition& condition) {
    const auto deadline = std::chrono::steady_clock::now() + cluster_limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("chaos: the servers do not form a cluster");
      }
      std::this_thread::sleep_for(cluster_pace);
    }
  }
  void wait_until_says(std::size_t server, std::string_view line, std::string_view wanted) const {
    wait_until([&] { return ask(server, line).find(wanted) != std::string::npos; });
  }

  /// The server that the third primary takes for the primary of the key's slot.
  [[nodiscard]] std::optional<std::size_t> owner_of(std::string_view key) const {
    const std::string reply = ask(third_, fmt::format("GET {}", key));
    if (!reply.starts_with("-MOVED ")) return std::nullopt;
    for (std::size_t server = 0; server < third_; ++server) {
      if (reply.find(fmt::format(":{}\r\n", servers_[server]->port())) != std::string::npos) {
        return server;
      }
    }
    return std::nullopt;
  }

  FaultServer& next_replica() {
    asked_ = (asked_ + 1) % (in_shard_ - 1);
    return *servers_[server_of(Part::replica, asked_)];
  }

  /// The network falls into two parts: the primary and some contenders, and all others, of whom a
  /// replica takes over. What the primary then hears from servers that it forgot is lost on it, and
  /// it goes on as the only primary of its cluster.
  void cut_off(const Fault& fault) {
    const std::size_t primary = *fault.node;
    outcast_.reset();
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      if (server == primary) continue;
      servers_[primary]->command(fmt::format("CLUSTER FORGET {}", ids_[server]));
    }
    set_links(fault, {LinkMode::hold});
    next_replica().command("CLUSTER FAILOVER TAKEOVER");
  }
  void join_again(const Fault& fault) {
    set_links(fault, {});
    outcast_ = *fault.node;
    introduce();
  }
  /// The server that was cut off meets those that it does not know. One that was down has to be met
  /// later: a server takes nobody whom it forgot from others, for a minute.
  void introduce() {
    introduced_ = std::chrono::steady_clock::now();
    const std::string known = ask(*outcast_, "CLUSTER NODES");
    if (known.empty()) return;
    bool complete = true;
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      if (known.find(ids_[server]) != std::string::npos) continue;
      complete = false;
      servers_[*outcast_]->command(fmt::format(
          "CLUSTER MEET 127.0.0.1 {} {}", servers_[server]->port(), servers_[server]->bus_port()));
    }
    if (complete) outcast_.reset();
  }
  void set_links(const Fault& fault, LinkRule rule) {
    const auto known = guides();
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const bool with_primary = (fault.contenders >> i & 1U) != 0;
      const auto is_cut = [&](std::size_t server) {
        return with_primary != (server == *fault.node);
      };
      for (std::size_t server = 0; server < servers_.size(); ++server) {
        if (is_cut(server)) proxy_.set(contenders_[i].to_servers[server], rule);
      }
      for (std::size_t guide = 0; guide < known.size(); ++guide) {
        if (is_cut(known[guide])) proxy_.set(contenders_[i].to_guides[guide], rule);
      }
    }
  }

  /// Whether all servers that can have the slot know its owner. Before that, redis-cli refuses to
  /// move it.
  [[nodiscard]] bool all_know(std::size_t owner) const {
    const std::string moved = fmt::format("127.0.0.1:{}\r\n", servers_[owner]->port());
    for (std::size_t server = 0; server < third_; ++server) {
      const std::string reply = ask(server, fmt::format("GET {}", key_in_slot));
      const bool knows = server == owner ? reply.starts_with('$') || reply.starts_with("-ASK ")
                                         : reply.find(moved) != std::string::npos;
      if (!knows) return false;
    }
    return true;
  }

  /// To the other shard, as redis-cli does. When something fails, the slot stays as it is, and the
  /// next move goes on from there.
  void move_slot() const {
    auto from = owner_of(key_in_slot);
    const auto deadline = std::chrono::steady_clock::now() + agreement_limit;
    while (!from || !all_know(*from)) {
      if (std::chrono::steady_clock::now() > deadline) return;
      std::this_thread::sleep_for(cluster_pace);
      from = owner_of(key_in_slot);
    }
    const auto to = owner_of(keys_of_shards[1 - *from / in_shard_]);
    if (!to) return;
    const std::string set = fmt::format("CLUSTER SETSLOT {}", slot_of_locks);
    if (!agrees(*to, fmt::format("{} IMPORTING {}", set, ids_[*from])) ||
        !agrees(*from, fmt::format("{} MIGRATING {}", set, ids_[*to]))) {
      return;
    }
    const std::string list = fmt::format("CLUSTER GETKEYSINSLOT {} 100", slot_of_locks);
    std::string listed = ask(*from, list);
    for (; listed.starts_with("*") && !listed.starts_with("*0"); listed = ask(*from, list)) {
      std::string migrate =
          fmt::format("MIGRATE 127.0.0.1 {} \"\" 0 900 REPLACE KEYS", servers_[*to]->port());
      for (const std::string& key : strings_in(listed)) migrate += fmt::format(" \"{}\"", key);
      if (!ask(*from, migrate).starts_with('+')) return;
    }
    if (!listed.starts_with("*0")) return;
    for (const std::size_t server : {*to, *from, third_}) {
      static_cast<void>(agrees(server, fmt::format("{} NODE {}", set, ids_[*to])));
    }
  }

  std::vector<std::unique_ptr<FaultServer>>& servers_;
  FaultProxy& proxy_;
  cli::LoopbackPorts& ports_;
  std::size_t in_shard_;
  std::size_t third_;
  std::vector<std::string> ids_{};
  std::vector<Contender> contenders_{};
  std::size_t primary_ = 0;
  std::size_t asked_ = 0;
  std::optional<std::size_t> outcast_{};  ///< it may not know all servers again
  std::chrono::steady_clock::time_point introduced_{};
  std::chrono::steady_clock::time_point looked_{};
};

}  // namespace

std::unique_ptr<Service> start_cluster_service(const ServiceParts& parts) {
  return std::make_unique<ClusterService>(parts);
}

std::optional<std::uint16_t> primary_of_slot(std::uint16_t server) {
  // Only the first and the last slot of a range are two integers in turn. The next integer is the
  // port of its primary.
  const std::string reply = ask_port(server, "CLUSTER SLOTS");
  std::optional<unsigned> before;
  bool found = false;
  for (std::string_view rest = reply; !rest.empty();) {
    const std::size_t size = std::min(rest.find("\r\n"), rest.size());
    const auto number = integer_in(rest.substr(0, size));
    rest.remove_prefix(std::min(size + 2, rest.size()));
    if (found && number) return static_cast<std::uint16_t>(*number);
    found = found || (before && number && *before <= slot_of_locks && slot_of_locks <= *number);
    before = number;
  }
  return std::nullopt;
}

}  // namespace redlock::chaos
