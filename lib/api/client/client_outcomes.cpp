#include <utility>

#include "api/client/client_core.hpp"
#include "runtime/boot_time.hpp"
#include "runtime/explain.hpp"
#include "support/assert.hpp"

namespace redlock::api {

ClientCore::Pending* ClientCore::find(core::CallId request) noexcept {
  const auto id = static_cast<std::uint64_t>(request);
  return pending_.find(static_cast<std::uint32_t>(id), static_cast<std::uint32_t>(id >> 32U));
}

std::shared_ptr<LeaseCell>* ClientCore::find_held(core::ClaimId claim) noexcept {
  if (claim.index >= held_.size()) return nullptr;
  // The slot may now be another lease's.
  auto& held = held_[claim.index];
  return held && held->claim() == claim ? &held : nullptr;
}

void ClientCore::give_back(Pending& call) {
  if (!call.callbacks.none()) spend(std::exchange(call.callbacks, {}));
  by_request_.remove(call);
  pending_.give_back(call);
}

void ClientCore::spend(LeaseCallbacks callbacks) {
  // The callbacks are not destroyed here, in the middle of a step: one may have captured a lease.
  if (!callbacks.none()) completions_.emplace_back(Spent{std::move(callbacks)});
}

void ClientCore::on_outcome(core::Instant now, const core::Acquired& outcome) noexcept {
  Pending* call = find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  const core::Claim* claim = driver_->engine().claim(outcome.claim);
  auto cell = std::make_shared<LeaseCell>(
      shared_from_this(), outcome, *claim, outcome.valid_until - now,
      std::exchange(call->callbacks, {}), configuration_.observer != nullptr);
  if (claim->index >= held_.size()) held_.resize(claim->index + std::size_t{1});
  held_[claim->index] = cell;
  if (configuration_.observer) observe_grant(outcome.request, call->resource, *cell);
  completions_.emplace_back(std::in_place_type<Call<AcquireDone, Result<Lease>>>,
                            std::get<AcquireDone>(std::move(call->done)),
                            LeaseCell::make_lease(std::move(cell)));
  give_back(*call);
}

void ClientCore::on_outcome(core::Instant now, const core::Extended& outcome) noexcept {
  if (auto* const held = find_held(outcome.claim)) {
    (*held)->set_valid_until(runtime::to_public(outcome.valid_until));
  }
  Pending* call = find(outcome.request);
  if (call == nullptr) return;
  completions_.emplace_back(Call<RoundDone, Result<RoundReport>>{
      std::get<RoundDone>(std::move(call->done)),
      runtime::report_round(*outcome.round, urls(), outcome.elapsed, outcome.valid_until - now)});
  give_back(*call);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Released& outcome) noexcept {
  Pending* call = find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  RoundReport report = runtime::report_round(*outcome.round, urls(), outcome.elapsed, {});
  report.holds_left = driver_->engine().claim(outcome.claim)->work->holds_left;
  completions_.emplace_back(std::in_place_type<Call<RoundDone, Result<RoundReport>>>,
                            std::get<RoundDone>(std::move(call->done)), std::move(report));
  give_back(*call);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Inspected& outcome) noexcept {
  Pending* call = find(outcome.request);
  REDLOCK_ASSERT(call != nullptr);
  if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&call->done)) {
    Inspection inspection = runtime::report_inspection(*outcome.round, *urls());
    if ((*watching)->sighting.is_news(inspection))
      completions_.emplace_back(Seen{*watching, std::move(inspection)});
    return;
  }
  if (auto* asked = std::get_if<OwnershipDone>(&call->done)) {
    const std::string_view token = driver_->engine().claim(outcome.claim)->token();
    completions_.emplace_back(std::in_place_type<Call<OwnershipDone, Result<Ownership>>>,
                              std::move(*asked), runtime::judge_ownership(*outcome.round, token));
  } else {
    completions_.emplace_back(
        Call<InspectDone, Result<Inspection>>{std::get<InspectDone>(std::move(call->done)),
                                              runtime::report_inspection(*outcome.round, *urls())});
  }
  give_back(*call);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Failed& outcome) noexcept {
  Pending* call = find(outcome.request);
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
  if (configuration_.observer && std::holds_alternative<AcquireDone>(call->done)) {
    observe_ended(outcome.request, call->resource, outcome.code);
  }
  if (is_to_name_holder(*call, outcome)) {
    completions_.emplace_back(Unnamed{std::move(call->done), std::string(in_the_way),
                                      std::make_unique<Error>(std::move(error))});
  } else if (auto* done = std::get_if<AcquireDone>(&call->done)) {
    completions_.emplace_back(Call<AcquireDone, Result<Lease>>{std::move(*done), std::move(error)});
  } else if (auto* round_done = std::get_if<RoundDone>(&call->done)) {
    completions_.emplace_back(
        Call<RoundDone, Result<RoundReport>>{std::move(*round_done), std::move(error)});
  } else if (auto* inspect_done = std::get_if<InspectDone>(&call->done)) {
    completions_.emplace_back(std::in_place_type<Call<InspectDone, Result<Inspection>>>,
                              std::move(*inspect_done), std::move(error));
  } else if (auto* asked = std::get_if<OwnershipDone>(&call->done)) {
    completions_.emplace_back(std::in_place_type<Call<OwnershipDone, Result<Ownership>>>,
                              std::move(*asked), std::move(error));
  } else if (auto* watching = std::get_if<std::shared_ptr<Watching>>(&call->done)) {
    completions_.emplace_back(Seen{std::move(*watching), std::move(error)});
  }
  give_back(*call);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::QueueWatched& outcome) noexcept {
  if (auto* const held = find_held(outcome.claim)) (*held)->set_others(outcome.others);
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::Lost& outcome) noexcept {
  auto* const held = find_held(outcome.claim);
  // If the holder was first, its call has not reached this thread, and will end the claim.
  if (held == nullptr || !(*held)->lose()) return;
  lost_.push_back(outcome.claim);
  driver_->request_turn_end();
  end_hold(*held, HoldObservation::End::lost, outcome.round);
}

void ClientCore::release_lost() {
  // A step may report further losses.
  while (!lost_.empty()) {
    const core::ClaimId claim = lost_.back();
    lost_.pop_back();
    driver_->step(core::Release{core::CallId::none, claim});
  }
}

void ClientCore::end_hold(std::shared_ptr<LeaseCell>& held, HoldObservation::End end,
                          const core::Round* round) {
  const auto cell = std::exchange(held, nullptr);
  const bool lost = cell->was_lost();
  if (configuration_.observer) observe_end(*cell, lost ? HoldObservation::End::lost : end);
  if (!lost) return spend(cell->take_callbacks());
  completions_.emplace_back(
      Loss{cell,
           runtime::explain_loss(cell->resource(), runtime::report_round(*round, urls(), {}, {}))});
}

void ClientCore::on_outcome(core::Instant /*now*/, const core::AtRisk& outcome) noexcept {
  const auto* const held = find_held(outcome.claim);
  if (held != nullptr && (*held)->wants_warnings()) completions_.emplace_back(Risk{*held});
}

void ClientCore::on_node_event(NodeEvent event) noexcept {
  if (event.kind == NodeEvent::Kind::learned) {
    // A new list: reports refer to the list of the time when they were made.
    std::vector<std::string> known = *urls();
    known.push_back(event.url);
    urls_.push_front(std::make_shared<const std::vector<std::string>>(std::move(known)));
  }
  on_log(event);
  if (configuration_.on_node_event) completions_.emplace_back(std::move(event));
}

void ClientCore::on_log(NodeEvent event) noexcept {
  if (!configuration_.on_log) return;
  if (auto line = event_log_.add(std::move(event), runtime::boot_now())) {
    completions_.emplace_back(Logged{*std::move(line)});
  }
}

void ClientCore::log(std::vector<NodeEvent> events) {
  for (NodeEvent& event : events) completions_.emplace_back(Logged{std::move(event)});
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
  if (event_log_.next()) log(event_log_.take_due(runtime::boot_now()));
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
  running_ = true;
  running_completions_.swap(completions_);
  if (!loop_is_borrowed()) {
    for (Completion& completion : for_the_thread_) run(completion);
    for_the_thread_.clear();
  }
  for (Completion& completion : running_completions_) {
    const bool users =
        std::holds_alternative<Loss>(completion) || std::holds_alternative<Risk>(completion) ||
        std::holds_alternative<Spent>(completion) ||
        std::holds_alternative<NodeEvent>(completion) ||
        std::holds_alternative<Logged>(completion) || std::holds_alternative<Told>(completion) ||
        std::holds_alternative<ToldHold>(completion);
    if (users && loop_is_borrowed()) {
      for_the_thread_.push_back(std::move(completion));
      continue;
    }
    // Answered callers are woken before the user's code runs, so they do not wait for it. Every
    // completion of an asynchronous client runs the user's code.
    if (users || !lends_loop()) wake_answered_callers();
    run(completion);
  }
  running_completions_.clear();
  wake_answered_callers();
  running_ = false;
}

bool ClientCore::is_to_name_holder(const Pending& call, const core::Failed& outcome) const {
  if (!configuration_.name_holders || outcome.permits > 0) return false;
  const bool of_a_holder =
      outcome.code == Errc::held || outcome.code == Errc::split || outcome.code == Errc::not_holder;
  return of_a_holder && (std::holds_alternative<AcquireDone>(call.done) ||
                         std::holds_alternative<RoundDone>(call.done));
}

void ClientCore::name_holder(Unnamed&& unnamed) {
  std::string resource = std::move(unnamed.resource);
  InspectDone named = [call = std::move(unnamed)](const Result<Inspection>& inspection) mutable {
    // If the inspection fails, the client is closing, and the error stays as it is.
    if (inspection) runtime::name_holder(*call.error, *inspection);
    if (auto* done = std::get_if<AcquireDone>(&call.done)) {
      if (*done) (*done)(std::move(*call.error));
    } else if (auto* round_done = std::get_if<RoundDone>(&call.done)) {
      if (*round_done) (*round_done)(std::move(*call.error));
    }
  };
  call<&ClientCore::begin_inspect>(std::move(named), std::move(resource));
}

void ClientCore::run(Completion& completion) noexcept {
  std::visit(
      [this](auto& what) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, NodeEvent>) {
          configuration_.on_node_event(what);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Logged>) {
          configuration_.on_log(what.event);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Told>) {
          ((*configuration_.observer).*what.what)(what.call);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, ToldHold>) {
          ((*configuration_.observer).*what.what)(what.hold);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Loss>) {
          what.cell->tell_loss(what.error);
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Risk>) {
          what.cell->tell_risk();
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Spent>) {
          what.callbacks = {};
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Unnamed>) {
          name_holder(std::move(what));
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Seen>) {
          if (what.watching->changed) what.watching->changed(std::move(what.what));
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Posted>) {
          what.job();
        } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(what)>, Measured>) {
          what.done(std::move(*what.metrics));
        } else {
          if (what.done) what.done(std::move(what.value));
        }
      },
      completion);
}

}  // namespace redlock::api
