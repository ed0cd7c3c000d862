#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/client/calls.hpp"
#include "api/client/client_state.hpp"
#include "core/vocabulary/time.hpp"
#include "runtime/driver.hpp"
#include "runtime/event_log.hpp"

namespace redlock::api {

class ClientCore;

/// Turns the driver's reports into completions, which answer the calls and tell the user of losses
/// and events. For the loop's thread only.
class Outcomes final : public runtime::DriverListener {
 public:
  /// Each granted lease shares `client`, whose turns end here.
  Outcomes(ClientState& state, Calls& calls, ClientCore& client) noexcept
      : state_(state), calls_(calls), client_(client) {}

  /// Has the keys of lost leases removed.
  void release_lost();
  /// Fails every call that has not answered: the client is closed.
  void fail_all();
  /// When `log_due` has something to log.
  [[nodiscard]] std::optional<core::Instant> next_log() const noexcept { return log_.next(); }
  void log_due(core::Instant now);
  /// Logs what is left, at the end.
  void finish_log(core::Instant now);

 private:
  void on_outcome(core::Instant now, const core::Acquired& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Extended& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Released& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Inspected& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Failed& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::AtRisk& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::QueueWatched& outcome) noexcept override;
  void on_outcome(core::Instant now, const core::Lost& outcome) noexcept override;
  void on_node_event(NodeEvent event) noexcept override;
  void on_log(NodeEvent event) noexcept override;
  void on_undelivered(const core::Undelivered& report) noexcept override;
  void on_drained() noexcept override;
  void on_turn_end() noexcept override;

  void fail(AnyDone& done, Error error);
  [[nodiscard]] bool is_to_name_holder(const PendingCalls::Call& call,
                                       const core::Failed& outcome) const;
  /// Answers the call with the error, once a further round has named the holder.
  void name_holder(AnyDone done, const std::string& resource, Error error);
  void log(NodeEvent event);

  ClientState& state_;
  Calls& calls_;
  ClientCore& client_;
  std::vector<core::ClaimId> lost_;  // lost leases whose keys are still to be removed
  runtime::EventLog log_;
};

}  // namespace redlock::api
