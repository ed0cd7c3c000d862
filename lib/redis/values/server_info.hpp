#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/membership/node_memory.hpp"

namespace redlock::redis {

/// The value of `field` ("run_id") in an INFO, as the server wrote it; empty if it is absent.
/// Points into `info`.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view field) noexcept;

/// How many keys the server has evicted; 0 if INFO does not say.
[[nodiscard]] std::uint64_t evicted_keys(std::string_view info) noexcept;

/// How often a replica has attached to the server, by whichever way. None: INFO does not say.
[[nodiscard]] std::optional<std::uint64_t> attachments(std::string_view info) noexcept;
/// How many replicas are attached, and have had a first copy of the data.
[[nodiscard]] std::uint64_t replicas_in_step(std::string_view info) noexcept;

/// A replica, as its primary sees it.
struct AttachedReplica {
  std::string address{};  ///< "10.0.0.8:6379"
  std::string state{};    ///< "online": it has had a first copy of the data
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> lag{};  ///< seconds since its last acknowledgement
};
[[nodiscard]] std::vector<AttachedReplica> attached_replicas(std::string_view info);
/// How far the server's replication has come.
[[nodiscard]] std::uint64_t replication_offset(std::string_view info) noexcept;

/// What the server says about its memory, in an INFO of all default sections. Before Redis 4.0
/// there is no replication id, and the run_id takes its place: a change of role is not noticed.
[[nodiscard]] core::NodeMemory memory_in(std::string_view info);

/// "standalone", "sentinel" or "cluster"; empty if INFO does not say. Forks of Redis have renamed
/// the field.
[[nodiscard]] std::string_view server_mode(std::string_view info) noexcept;

/// The product name and version that a server gives itself.
struct Product {
  std::string_view name;     ///< "Redis", "Valkey", "Redict"
  std::string_view version;  ///< the product's own; a fork's `redis_version` is the Redis version
                             ///< that it is compatible with
};

[[nodiscard]] Product product_in(std::string_view info) noexcept;

/// "Valkey 9.1.2"; "Redis" alone if INFO names no version.
[[nodiscard]] std::string product_text(std::string_view info);

}  // namespace redlock::redis
