#include <utility>

#include "api/client/client_core.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"
#include "support/assert.hpp"

namespace redlock::api {

void ClientCore::on_outcome(core::Instant now, const core::Acquired& outcome) noexcept {
  auto* const call = pending_.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  const core::Claim* claim = driver_->engine().claim(outcome.claim);
  auto cell =
      std::make_shared<LeaseCell>(shared_from_this(), outcome, *claim, outcome.valid_until - now,
                                  std::exchange(call->callbacks, {}), observing_.has_observer());
  held_.add(cell);
  observing_.granted(outcome.request, call->resource, *cell);
  completions_.answer(std::get<AcquireDone>(std::move(call->done)),
                      LeaseCell::make_lease(std::move(cell)));
  pending_.remove(*call, completions_);
}

void ClientCore::on_outcome(core::Instant now, const core::Extended& outcome) noexcept {
  if (const auto& held = held_.find(outcome.claim)) {
    held->set_valid_until(runtime::to_public(outcome.valid_until));
  }
  auto* const call = pending_.find(outcome.request);
  if (call == nullptr) return;
  completions_.answer(
      std::get<RoundDone>(std::move(call->done)),
      runtime::report_round(*outcome.round, urls(), outcome.elapsed, outcome.valid_until - now));
  pending_.remove(*call, completions_);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Released& outcome) noexcept {
  auto* const call = pending_.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  RoundReport report = runtime::report_round(*outcome.round, urls(), outcome.elapsed, {});
  report.holds_left = driver_->engine().claim(outcome.claim)->work->holds_left;
  completions_.answer(std::get<RoundDone>(std::move(call->done)), std::move(report));
  pending_.remove(*call, completions_);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Inspected& outcome) noexcept {
  auto* const call = pending_.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&call->done)) {
    Inspection inspection = runtime::report_inspection(*outcome.round, *urls());
    if ((*watching)->sighting.is_news(inspection)) {
      completions_.post([watching = *watching, inspection = std::move(inspection)]() mutable {
        watching->see(std::move(inspection));
      });
    }
    return;
  }
  if (auto* asked = std::get_if<OwnershipDone>(&call->done)) {
    const std::string_view token = driver_->engine().claim(outcome.claim)->token();
    completions_.answer(std::move(*asked), runtime::judge_ownership(*outcome.round, token));
  } else {
    completions_.answer(std::get<InspectDone>(std::move(call->done)),
                        runtime::report_inspection(*outcome.round, *urls()));
  }
  pending_.remove(*call, completions_);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Failed& outcome) noexcept {
  auto* const call = pending_.find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  RoundReport report;
  if (outcome.round != nullptr) {
    report = runtime::report_round(*outcome.round, urls(), outcome.elapsed, {});
  }
  const std::string_view in_the_way = outcome.in_the_way.empty()
                                          ? std::string_view(call->resource)
                                          : keyspace_.name_of(outcome.in_the_way);
  Error error = runtime::explain(outcome.code, in_the_way, std::move(report), outcome.permits);
  if (outcome.code == Errc::excluded || outcome.code == Errc::unavailable) {
    runtime::add_outlook(error, driver_->engine().outlook());
  }
  const bool extends = std::holds_alternative<RoundDone>(call->done);
  if (extends && outcome.code == Errc::limit_reached) {
    error.message = runtime::explain_spent_renewals(call->resource);
  }
  if (std::holds_alternative<AcquireDone>(call->done)) {
    observing_.ended(outcome.request, call->resource, outcome.code);
  }
  if (is_to_name_holder(call->done, outcome)) {
    completions_.post([this, done = std::move(call->done), resource = std::string(in_the_way),
                       error = std::move(error)]() mutable {
      name_holder(std::move(done), std::move(resource), std::move(error));
    });
  } else {
    fail(call->done, std::move(error));
  }
  pending_.remove(*call, completions_);
}

void ClientCore::fail(AnyDone& done, Error error) {
  if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&done)) {
    return completions_.post([watching = std::move(*watching), error = std::move(error)]() mutable {
      watching->see(std::move(error));
    });
  }
  std::visit(
      [&](auto& call) {
        if constexpr (std::is_invocable_v<decltype(call), Error>) {
          completions_.answer(std::move(call), std::move(error));
        }
      },
      done);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::QueueWatched& outcome) noexcept {
  if (const auto& held = held_.find(outcome.claim)) held->set_others(outcome.others);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Lost& outcome) noexcept {
  const auto& held = held_.find(outcome.claim);
  // If the holder was first, its call has not reached this thread, and will end the claim.
  if (!held || !held->lose()) return;
  lost_.push_back(outcome.claim);
  driver_->request_turn_end();
  held_.end(outcome.claim, HoldObservation::End::lost,
            [&](const LeaseCell& lost) { return explain_loss(lost, *outcome.round); });
}

void ClientCore::release_lost() {
  // A step may report further losses.
  while (!lost_.empty()) {
    const core::ClaimId claim = lost_.back();
    lost_.pop_back();
    driver_->step(core::Release{core::CallId::none, claim});
  }
}

Error ClientCore::explain_loss(const LeaseCell& cell, const core::Round& round) const {
  return runtime::explain_loss(cell.resource(), runtime::report_round(round, urls(), {}, {}));
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::AtRisk& outcome) noexcept {
  const auto& held = held_.find(outcome.claim);
  if (held && held->wants_warnings()) completions_.tell([cell = held] { cell->tell_risk(); });
}

void ClientCore::on_node_event(NodeEvent event) noexcept {
  if (event.kind == NodeEvent::Kind::learned) {
    // A new list: reports refer to the list of the time when they were made.
    std::vector<std::string> known = *urls();
    known.push_back(event.url);
    urls_.push_front(std::make_shared<const std::vector<std::string>>(std::move(known)));
  }
  on_log(event);
  if (!configuration_.on_node_event) return;
  completions_.tell([this, event = std::move(event)] { configuration_.on_node_event(event); });
}

void ClientCore::on_log(NodeEvent event) noexcept {
  if (!configuration_.on_log) return;
  if (auto line = event_log_.add(std::move(event), runtime::boot_now())) log(*std::move(line));
}

void ClientCore::log(NodeEvent event) {
  completions_.tell([this, event = std::move(event)] { configuration_.on_log(event); });
}

void ClientCore::on_undelivered(const core::Undelivered& report) noexcept {
  close_report_.undelivered.push_back({report.node, (*urls())[report.node],
                                       static_cast<std::size_t>(report.releases), report.left,
                                       report.may_write_late});
}

void ClientCore::on_drained() noexcept { drained_ = true; }

void ClientCore::on_turn_end() noexcept {
  if (!thread_) caller_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  const auto self = shared_from_this();
  if (driver_) release_lost();
  if (local_waits_.next()) end_local_waits(runtime::boot_now(), LocalWaits::End::time);
  if (event_log_.next()) {
    for (NodeEvent& event : event_log_.take_due(runtime::boot_now())) log(std::move(event));
  }
  run_completions();
  if (!driver_) return answer_the_rest();
  let_callers_ask();
  // Calls made in the callbacks may already be answered. The loop gets its turn first, so that a
  // caller who tries again in every callback cannot starve it.
  if (!completions_.empty()) driver_->request_turn_end();
  driver_->wake_at(core::earlier(local_waits_.next(), event_log_.next()));
  // A borrower leaves tearing down to the loop's thread, as it leaves the user's code.
  if (drained_ && completions_.empty() && !loop_is_borrowed()) tear_down();
}

void ClientCore::run_completions() {
  // Answered callers are woken before the user's code runs, so they do not wait for it. Every
  // completion of an asynchronous client runs the user's code.
  completions_.run(loop_is_borrowed(), lends_loop(), [this] { wake_answered_callers(); });
  wake_answered_callers();
}

bool ClientCore::is_to_name_holder(const AnyDone& done, const core::Failed& outcome) const {
  if (!configuration_.name_holders || outcome.permits > 0) return false;
  const bool of_a_holder =
      outcome.code == Errc::held || outcome.code == Errc::split || outcome.code == Errc::not_holder;
  return of_a_holder &&
         (std::holds_alternative<AcquireDone>(done) || std::holds_alternative<RoundDone>(done));
}

void ClientCore::name_holder(AnyDone done, std::string resource, Error error) {
  InspectDone named = [done = std::move(done),
                       error = std::move(error)](const Result<Inspection>& inspection) mutable {
    // If the inspection fails, the client is closing, and the error stays as it is.
    if (inspection) runtime::name_holder(error, *inspection);
    std::visit(
        [&](auto& call) {
          if constexpr (std::is_invocable_v<decltype(call), Error>) {
            if (call) call(std::move(error));
          }
        },
        done);
  };
  call<&ClientCore::begin_inspect>(std::move(named), std::move(resource));
}

}  // namespace redlock::api
