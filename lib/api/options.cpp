#include "redlock/options.hpp"

#include <optional>

#include "runtime/configuration.hpp"

namespace redlock {

std::optional<Error> find_mistake(const ClientOptions& options) {
  const auto configuration = runtime::configure(options);
  if (configuration) return std::nullopt;
  return configuration.error();
}

}  // namespace redlock
