#include "api/client/outcomes.hpp"

#include <utility>

#include "api/client/client_core.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"
#include "support/assert.hpp"

namespace redlock::api {

void Outcomes::on_outcome(core::Instant now, const core::Acquired& outcome) noexcept {
  auto* const call = state_.pending.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  const core::Claim* claim = state_.driver->engine().claim(outcome.claim);
  auto cell = std::make_shared<LeaseCell>(
      client_.shared_from_this(), outcome, *claim, outcome.valid_until - now,
      std::exchange(call->callbacks, {}), state_.observing.has_observer());
  state_.held.add(cell);
  state_.observing.granted(outcome.request, call->resource, *cell);
  state_.completions.answer(std::get<AcquireDone>(std::move(call->done)),
                            LeaseCell::make_lease(std::move(cell)));
  state_.pending.remove(*call, state_.completions);
}

void Outcomes::on_outcome(core::Instant now, const core::Extended& outcome) noexcept {
  if (const auto& held = state_.held.find(outcome.claim)) {
    held->set_valid_until(runtime::to_public(outcome.valid_until));
  }
  auto* const call = state_.pending.find(outcome.request);
  if (call == nullptr) return;
  state_.completions.answer(std::get<RoundDone>(std::move(call->done)),
                            runtime::report_round(*outcome.round, state_.urls(), outcome.elapsed,
                                                  outcome.valid_until - now));
  state_.pending.remove(*call, state_.completions);
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::Released& outcome) noexcept {
  auto* const call = state_.pending.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  Round report = runtime::report_round(*outcome.round, state_.urls(), outcome.elapsed, {});
  report.holds_left = state_.driver->engine().claim(outcome.claim)->work->holds_left;
  state_.completions.answer(std::get<RoundDone>(std::move(call->done)), std::move(report));
  state_.pending.remove(*call, state_.completions);
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::Inspected& outcome) noexcept {
  auto* const call = state_.pending.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&call->done)) {
    Inspection inspection = runtime::report_inspection(*outcome.round, *state_.urls());
    if ((*watching)->sighting.is_news(inspection)) {
      state_.completions.post([watching = *watching, inspection = std::move(inspection)]() mutable {
        watching->see(std::move(inspection));
      });
    }
    return;
  }
  if (auto* asked = std::get_if<OwnershipDone>(&call->done)) {
    const std::string_view token = state_.driver->engine().claim(outcome.claim)->token();
    state_.completions.answer(
        std::move(*asked), runtime::judge_ownership(*outcome.round, token, state_.urls()->size()));
  } else {
    state_.completions.answer(std::get<InspectDone>(std::move(call->done)),
                              runtime::report_inspection(*outcome.round, *state_.urls()));
  }
  state_.pending.remove(*call, state_.completions);
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::Failed& outcome) noexcept {
  auto* const call = state_.pending.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  Round report;
  if (outcome.round != nullptr) {
    report = runtime::report_round(*outcome.round, state_.urls(), outcome.elapsed, {});
  }
  const std::string_view in_the_way = outcome.in_the_way.empty()
                                          ? std::string_view(call->resource)
                                          : state_.keyspace.name_of(outcome.in_the_way);
  Error error = runtime::explain(outcome.code, in_the_way, std::move(report), outcome.permits);
  if (outcome.code == Errc::excluded || outcome.code == Errc::unavailable) {
    runtime::add_outlook(error, state_.driver->engine().outlook());
  }
  const bool extends = std::holds_alternative<RoundDone>(call->done);
  if (extends && outcome.code == Errc::limit_reached) {
    error.message = runtime::explain_spent_renewals(call->resource);
  }
  if (std::holds_alternative<AcquireDone>(call->done)) {
    state_.observing.ended(outcome.request, call->resource, outcome.code);
  }
  if (is_to_name_holder(*call, outcome)) {
    state_.completions.post([this, done = std::move(call->done), resource = std::string(in_the_way),
                             error = std::move(error)]() mutable {
      name_holder(std::move(done), resource, std::move(error));
    });
  } else {
    fail(call->done, std::move(error));
  }
  state_.pending.remove(*call, state_.completions);
}

void Outcomes::fail(AnyDone& done, Error error) {
  if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&done)) {
    return state_.completions.post(
        [watching = std::move(*watching), error = std::move(error)]() mutable {
          watching->see(std::move(error));
        });
  }
  std::visit(
      [&](auto& call) {
        if constexpr (std::is_invocable_v<decltype(call), Error>) {
          state_.completions.answer(std::move(call), std::move(error));
        }
      },
      done);
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::QueueWatched& outcome) noexcept {
  if (const auto& held = state_.held.find(outcome.claim)) held->set_others(outcome.others);
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::Lost& outcome) noexcept {
  const auto& held = state_.held.find(outcome.claim);
  // If the holder was first, its call has not reached this thread, and will end the claim.
  if (!held || !held->lose()) return;
  lost_.push_back(outcome.claim);
  state_.driver->request_turn_end();
  state_.held.end(outcome.claim, HoldObservation::End::lost,
                  [&](const LeaseCell& lost) { return state_.explain_loss(lost, *outcome.round); });
}

void Outcomes::release_lost() {
  // A step may report further losses.
  while (!lost_.empty()) {
    const core::ClaimId claim = lost_.back();
    lost_.pop_back();
    state_.driver->step(core::Release{core::CallId::none, claim});
  }
}

void Outcomes::on_outcome(core::Instant /*now*/, const core::AtRisk& outcome) noexcept {
  const auto& held = state_.held.find(outcome.claim);
  if (held && held->wants_warnings())
    state_.completions.notify([cell = held] { cell->report_risk(); });
}

void Outcomes::on_node_event(NodeEvent event) noexcept {
  if (event.kind == NodeEvent::Kind::learned) {
    // A new list: reports refer to the list of the time when they were made.
    std::vector<std::string> known = *state_.urls();
    known.push_back(event.url);
    state_.known.push_front(std::make_shared<const std::vector<std::string>>(std::move(known)));
  }
  on_log(event);
  if (!state_.configuration.on_node_event) return;
  state_.completions.notify(
      [this, event = std::move(event)] { state_.configuration.on_node_event(event); });
}

void Outcomes::on_log(NodeEvent event) noexcept {
  if (!state_.configuration.on_log) return;
  if (auto line = log_.add(std::move(event), runtime::boot_now())) log(*std::move(line));
}

void Outcomes::log(NodeEvent event) {
  state_.completions.notify(
      [this, event = std::move(event)] { state_.configuration.on_log(event); });
}

void Outcomes::on_undelivered(const core::Undelivered& report) noexcept {
  state_.close_report.undelivered.push_back({report.node, (*state_.urls())[report.node],
                                             static_cast<std::size_t>(report.releases), report.left,
                                             report.may_write_late});
}

void Outcomes::on_drained() noexcept { state_.drained = true; }

void Outcomes::on_turn_end() noexcept { client_.on_turn_end(); }

void Outcomes::fail_all() {
  state_.pending.each([this](const PendingCalls::Call& call) {
    on_outcome({}, core::Failed{call.id(), Errc::closed});
  });
}

void Outcomes::log_due(core::Instant now) {
  for (NodeEvent& event : log_.take_due(now)) log(std::move(event));
}

void Outcomes::finish_log(core::Instant now) {
  for (NodeEvent& event : log_.finish(now)) log(std::move(event));
}

bool Outcomes::is_to_name_holder(const PendingCalls::Call& call,
                                 const core::Failed& outcome) const {
  const AnyDone& done = call.done;
  if (!(call.waits || state_.configuration.name_holders) || outcome.permits > 0) return false;
  const bool of_a_holder =
      outcome.code == Errc::held || outcome.code == Errc::split || outcome.code == Errc::not_holder;
  return of_a_holder &&
         (std::holds_alternative<AcquireDone>(done) || std::holds_alternative<RoundDone>(done));
}

void Outcomes::name_holder(AnyDone done, const std::string& resource, Error error) {
  InspectDone named = [done = std::move(done), resource,
                       error = std::move(error)](const Result<Inspection>& inspection) mutable {
    // If the inspection fails, the client is closing, and the error stays as it is.
    if (inspection) runtime::name_holder(error, resource, *inspection);
    std::visit(
        [&](auto& call) {
          if constexpr (std::is_invocable_v<decltype(call), Error>) {
            if (call) call(std::move(error));
          }
        },
        done);
  };
  calls_.inspect(std::move(named), resource);
}

}  // namespace redlock::api
