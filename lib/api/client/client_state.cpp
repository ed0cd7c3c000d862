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

void ClientState::end_all_leases() {
  held.end_all([this](core::ClaimId claim) {
    if (driver) driver->step(core::Detach{claim});
  });
}

Error ClientState::explain_loss(const LeaseCell& cell, const core::Round& round) const {
  return runtime::explain_loss(cell.resource(), runtime::report_round(round, urls(), {}, {}));
}

}  // namespace redlock::api
