#include "api/client/client_state.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/boot_time.hpp"

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

bool ClientState::is_due_within(core::Duration time) const noexcept {
  if (!driver) return false;
  const auto next = driver->engine().next_deadline();
  return next && *next < runtime::boot_now() + time;
}

Error ClientState::explain_loss(const LeaseCell& cell, const core::Round& round) const {
  return runtime::explain_loss(cell.resource(), runtime::report_round(round, urls(), {}, {}));
}

}  // namespace redlock::api
