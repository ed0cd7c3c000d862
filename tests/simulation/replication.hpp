#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "simulation/clock.hpp"
#include "simulation/node/model_node.hpp"

namespace redlock::simulation {

/// A connection over which a server follows another one. Neither end need know that the other one
/// has gone: such a connection is half open.
struct ReplicaLink {
  std::uint32_t replica = 0;
  std::uint32_t source = 0;
  bool follows = true;    ///< the replica's end is open
  bool attached = false;  ///< the source's end is open
  bool in_step = false;   ///< the replica has the source's data, so its acknowledgements count
  std::uint64_t acknowledged = 0;  ///< the offset, as the source knows it
  struct Sent {
    ModelNode::Copy data;
    std::uint64_t offset = 0;
    std::uint64_t id = 0;  ///< the replication id
    bool full = false;     ///< a first copy
  };
  std::deque<Sent> sent;
  bool sends = false;  ///< the next copy is planned
  True last_sent = 0;
  True last_acknowledged = 0;
  True data_held_until = 0;
  True acknowledgements_held_until = 0;
};

/// What the servers of replicated nodes know of replication, as Redis keeps it.
class Replication {
 public:
  struct Server {
    std::optional<std::uint32_t> follows{};  ///< the server that it is a replica of
    std::optional<std::uint32_t> link{};     ///< over which it follows
    std::uint64_t offset = 0;
    std::uint64_t second_id = 0;  ///< the replication id before its promotion; 0: none
    std::uint64_t second_offset = 0;
    std::uint64_t attachments = 0;  ///< sync_full + sync_partial_ok
  };

  void resize(std::size_t servers) { servers_.resize(servers); }
  [[nodiscard]] Server& server(std::uint32_t index) { return servers_[index]; }
  [[nodiscard]] ReplicaLink& link(std::uint32_t index) { return links_[index]; }
  [[nodiscard]] std::uint64_t new_id() noexcept { return ++last_id_; }

  std::uint32_t connect(std::uint32_t replica, std::uint32_t source) {
    links_.emplace_back();
    links_.back().replica = replica;
    links_.back().source = source;
    servers_[replica].link = static_cast<std::uint32_t>(links_.size() - 1);
    return *servers_[replica].link;
  }
  /// The replica's end is closed. Returns the connection, if there was one.
  std::optional<std::uint32_t> leave(std::uint32_t replica) {
    const std::optional<std::uint32_t> link = servers_[replica].link;
    if (link) links_[*link].follows = false;
    servers_[replica].link.reset();
    return link;
  }
  /// Calls with each connection that the server counts.
  template <typename Visit>
  void each_attached(std::uint32_t source, Visit&& visit) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      if (links_[i].source == source && links_[i].attached) visit(i);
    }
  }
  /// WAIT: connections, not servers.
  [[nodiscard]] std::uint64_t acknowledged(std::uint32_t source, std::uint64_t offset) const {
    return count(source, [&](const ReplicaLink& link) { return link.acknowledged >= offset; });
  }
  /// INFO replication: the replicas in step.
  [[nodiscard]] std::uint64_t in_step(std::uint32_t source) const {
    return count(source, [](const ReplicaLink&) { return true; });
  }

 private:
  template <typename Matches>
  [[nodiscard]] std::uint64_t count(std::uint32_t source, Matches&& matches) const {
    return static_cast<std::uint64_t>(
        std::count_if(links_.begin(), links_.end(), [&](const ReplicaLink& link) {
          return link.source == source && link.attached && link.in_step && matches(link);
        }));
  }

  std::vector<Server> servers_;  // by server
  std::deque<ReplicaLink> links_;
  std::uint64_t last_id_ = 1;
};

}  // namespace redlock::simulation
