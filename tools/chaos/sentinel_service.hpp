#pragma once

#include <memory>

#include "chaos/service.hpp"

namespace redlock::chaos {

/// A primary with replicas, and as many sentinels as servers. All reach each server over a link of
/// its own, which can be cut.
[[nodiscard]] std::unique_ptr<Service> start_sentinel_service(const ServiceParts& parts);

}  // namespace redlock::chaos
