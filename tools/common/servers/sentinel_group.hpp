#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/servers/loopback_server.hpp"

namespace redlock::cli {

/// A private service of one primary and replicas, watched by as many sentinels as it has servers.
/// All of them have the same password, or none.
struct SentinelGroup {
  std::string_view service;
  std::span<const ServerAddress> sentinels;
};

/// The service as one node.
[[nodiscard]] std::string url_of(const SentinelGroup& group);

/// Makes the sentinels watch a primary that replicas follow already. `settings`: names and values,
/// as for SENTINEL SET.
void watch_primary(const SentinelGroup& group, std::uint16_t primary, std::string_view password,
                   std::string_view settings);

/// Whether all replicas follow, and every sentinel knows them and every other sentinel: a failover
/// can succeed then.
[[nodiscard]] bool is_complete(const SentinelGroup& group, const ServerAddress& primary);

/// The port of the primary that the sentinel names.
[[nodiscard]] std::optional<std::uint16_t> named_primary(const ServerAddress& sentinel,
                                                         std::string_view service);

}  // namespace redlock::cli
