#include "chaos/service.hpp"

#include "chaos/sentinel_service.hpp"

namespace redlock::chaos {
namespace {

constexpr ServiceKind service_kinds[] = {
    {"sentinel", start_sentinel_service},
};

}  // namespace

const ServiceKind* find_service_kind(std::string_view name) noexcept {
  for (const ServiceKind& kind : service_kinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

}  // namespace redlock::chaos
