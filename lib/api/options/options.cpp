#include "redlock/options.hpp"

#include <optional>

#include "api/options/adapted.hpp"
#include "runtime/configuration.hpp"

namespace redlock {
inline namespace REDLOCK_ABI {

std::optional<Error> find_mistake(const ClientOptions& options) {
  const auto configuration = runtime::configure(api::adapted(options));
  if (configuration) return std::nullopt;
  return configuration.error();
}

}  // namespace REDLOCK_ABI
}  // namespace redlock
