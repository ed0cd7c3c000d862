#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "chaos/service.hpp"

namespace redlock::chaos {

/// The primary of a slot of a cluster, with its replicas: two shards that have the slot in turn,
/// and a third primary without replicas, so that the primaries have a majority when one is lost.
/// That one is never broken. Servers reach each other without proxies.
[[nodiscard]] std::unique_ptr<Service> start_cluster_service(const ServiceParts& parts);

/// The port that the server of the cluster names for the primary of that slot.
[[nodiscard]] std::optional<std::uint16_t> primary_of_slot(std::uint16_t server);

}  // namespace redlock::chaos
