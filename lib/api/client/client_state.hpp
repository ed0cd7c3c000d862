#pragma once

#include <cstdint>
#include <forward_list>
#include <optional>

#include "api/client/completions.hpp"
#include "api/client/held_leases.hpp"
#include "api/client/observing.hpp"
#include "api/client/pending_calls.hpp"
#include "api/options/keyspace.hpp"
#include "redlock/metrics.hpp"
#include "runtime/configuration.hpp"
#include "runtime/driver.hpp"
#include "runtime/explain.hpp"

namespace redlock::api {

/// The state that the parts of a client share. For the loop's thread only, except that any thread
/// may call the const functions of `keyspace`.
struct ClientState {
  explicit ClientState(runtime::Configuration its_configuration);

  /// The URLs of all nodes that are known now. The list does not change, and lives as long as this
  /// object.
  [[nodiscard]] const runtime::Urls& urls() const noexcept { return known.front(); }
  /// The client closes.
  void end_all_leases();
  /// Whether the engine has something to do within this time.
  [[nodiscard]] bool is_due_within(core::Duration time) const noexcept;
  [[nodiscard]] Error explain_loss(const LeaseCell& cell, const core::Round& round) const;

  runtime::Configuration configuration;
  Keyspace keyspace;
  std::forward_list<runtime::Urls> known;  ///< the newest first; one for each node that was learned
  std::optional<runtime::Driver> driver;   ///< none once closed
  Completions completions;
  Observing observing{configuration.observer.get(), completions};
  PendingCalls pending;
  HeldLeases held{completions, observing};
  std::uint64_t found_lost = 0;  ///< leases whose holders noticed the loss
  bool closing = false;
  bool drained = false;  ///< nothing is left to wait for: the driver may be destroyed
  CloseReport close_report;
};

}  // namespace redlock::api
