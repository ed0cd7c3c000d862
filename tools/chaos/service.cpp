#include "chaos/service.hpp"

#include "chaos/cluster_service.hpp"
#include "chaos/sentinel_service.hpp"

namespace redlock::chaos {
namespace {

constexpr ServiceKind kind_rows[] = {
    {"sentinel", Manager::sentinels, 3, 1, 0, "", FaultServer::Program::server,
     start_sentinel_service},
    {"cluster", Manager::cluster, 3, 2, 1, "{chaos}:", FaultServer::Program::cluster,
     start_cluster_service},
};

}  // namespace

std::span<const ServiceKind> service_kinds() noexcept { return kind_rows; }

}  // namespace redlock::chaos
