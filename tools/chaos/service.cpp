#include "chaos/service.hpp"

#include "chaos/sentinel_service.hpp"

namespace redlock::chaos {
namespace {

constexpr ServiceKind kind_rows[] = {
    {"sentinel", 3, start_sentinel_service},
};

}  // namespace

std::span<const ServiceKind> service_kinds() noexcept { return kind_rows; }

}  // namespace redlock::chaos
