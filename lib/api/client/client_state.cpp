#include "api/client/client_state.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redlock::api {

ClientState::ClientState(runtime::Configuration its_configuration)
    : configuration(std::move(its_configuration)),
      keyspace(configuration.prefix),
      known{std::make_shared<const std::vector<std::string>>(configuration.settings.nodes)} {}

Error ClientState::explain_loss(const LeaseCell& cell, const core::Round& round) const {
  return runtime::explain_loss(cell.resource(), runtime::report_round(round, urls(), {}, {}));
}

}  // namespace redlock::api
